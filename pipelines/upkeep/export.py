"""Export: the published file in other formats, in a folder or an object store, whole or not at all.

Every export is a folder of its own, named by its moment; `latest.json` names the newest, and is written last.
In a directory, `latest` is also a link that moves to it in one step; an object store has no links.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import fsspec
from filelock import FileLock
from fsspec.implementations.local import LocalFileSystem

from pipelines.foreign_text import FORMULA_SIGNS, file_name
from pipelines.upkeep.workbook import sheets, write_workbook
from warehouse.errors import WarehouseError, explained
from warehouse.publishing.table_export import PublishedTable, TableExport, table_export
from warehouse.store.files import (
    PRIVATE_FILE,
    SHARED_FILE,
    SHARED_FOLDER,
    make_folder,
    sync,
    write_file,
)
from warehouse.store.versions import Versions, next_name

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

FOLDER = "export"
"""Where exports are, beside the published file, unless another place is named."""
WORKBOOK = "brokerbi.xlsx"
MANIFEST = "manifest.json"
LATEST = "latest"
LOCAL = ("file://", "local://")
"""Addresses of directories of this machine, for which a directory's rights and steps are kept."""
KEPT = 2
"""The newest export and the one before, which may still be read."""
_MOMENT = re.compile(r"\d{8}T\d{6}Z")
_UNFINISHED, _LOCK = ".unfinished", ".lock"


@dataclass(frozen=True)
class Export:
    """An export that was made: where, of which publication, and what it holds."""

    place: str
    publication: str | None
    files: int
    bytes: int
    seconds: float
    too_long: tuple[str, ...]  # tables that are longer than a sheet of the workbook


def export(
    data_dir: Path,
    *,
    formats: Sequence[str],
    now: datetime,
    to: str = "",
    tables: Sequence[str] = (),
    language: str = "en",
) -> Export:
    """Write the tables as parquet, csv or xlsx, and remove older exports from the same place.

    `to` is a directory or an address that fsspec knows, such as s3://bucket/folder; its credentials are
    those of the environment. Raises WarehouseError for what cannot be read or written.
    """
    began = time.monotonic()
    to = fsspec.url_to_fs(to)[1] if to.startswith(LOCAL) else to
    is_address = "://" in to
    root = Path(data_dir, FOLDER) if is_address or not to else Path(to).absolute()
    with explained(root), _unfinished_folder(root) as folder:
        publication = Versions(data_dir).current()
        with table_export(data_dir) as source:
            chosen = source.tables(tables)
            too_long: list[str] = []
            for format_ in formats:
                if format_ == "xlsx":
                    marts = [table for table in chosen if table.schema == "marts"]
                    contents = sheets(marts, language, is_chosen=bool(tables))
                    too_long = write_workbook(folder / WORKBOOK, source, contents, now, language)
                else:
                    _write_files(source, chosen, folder / format_)
            _write_manifest(source, chosen, folder, publication, now)
        files = [path for path in folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        place = _put_in_place(folder, to if is_address else str(root), now)
    return Export(place, publication, len(files), size, time.monotonic() - began, tuple(too_long))


def refresh_export(settings: Settings, now: datetime) -> Export | str | None:
    """The export of a new publication, if the settings want one, or why there is none."""
    if not settings.export_formats:
        return None
    try:
        return export(
            settings.data_dir,
            formats=settings.export_formats,
            to=settings.export_to,
            language=settings.language,
            now=now,
        )
    except Exception as error:  # noqa: BLE001 whatever is wrong with the export, the numbers are published
        why = str(error) if isinstance(error, WarehouseError) else f"{type(error).__name__}: {error}"
        return f"The export could not be written, the one before stays: {why}"


def remove_exports(data_dir: Path) -> int:
    """Remove every export beside the published file; how many there were."""
    root = data_dir / FOLDER
    found = [path for path in root.glob("*") if _MOMENT.fullmatch(path.name)]
    if root.is_dir():
        shutil.rmtree(root)
    return len(found)


def _write_files(source: TableExport, tables: Sequence[PublishedTable], folder: Path) -> None:
    """Write each table as a file, in the format that the folder is named after."""
    folder.mkdir()
    for table in tables:
        path = folder / f"{file_name(table.name)}.{folder.name}"
        if folder.name == "parquet":
            source.write_parquet(table, path)
        else:
            source.write_csv(table, path, FORMULA_SIGNS)


def _write_manifest(
    source: TableExport,
    tables: Sequence[PublishedTable],
    folder: Path,
    publication: str | None,
    now: datetime,
) -> None:
    """Describe the tables in a file, and let the group read all files, which are on the disk then."""
    described = {
        "publication": publication,
        "made_at_utc": now.astimezone(UTC).isoformat(timespec="seconds"),
        "commission_basis": source.tax_basis().commission_basis,
        "tables": {
            table.name: {
                "rows": table.row_count,
                "columns": {column.name: column.exported_type for column in table.columns},
                "meanings": {column.name: column.meaning for column in table.columns},
            }
            for table in tables
        },
    }
    (folder / MANIFEST).write_text(json.dumps(described, indent=2, ensure_ascii=False), encoding="utf-8")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(SHARED_FOLDER if path.is_dir() else SHARED_FILE)
        sync(path)


@contextmanager
def _unfinished_folder(root: Path) -> Iterator[Path]:
    """A folder to write into, gone afterwards unless it was moved; one export at a time."""
    unfinished = root / _UNFINISHED
    try:
        make_folder(root, SHARED_FOLDER)
    except ValueError as error:  # no file can be called so
        raise WarehouseError(f"{root} cannot be written: {error}") from error
    with FileLock(root / _LOCK, mode=PRIVATE_FILE):
        shutil.rmtree(unfinished, ignore_errors=True)  # what a killed process left
        make_folder(unfinished)
        try:
            yield unfinished
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _put_in_place(folder: Path, to: str, now: datetime) -> str:
    """Give the folder its name in a directory or at an address, and remove the older ones.

    That it is whole is said last: by `latest.json`, and in a directory by the link `latest`.
    """
    try:
        system, root = fsspec.url_to_fs(to) if "://" in to else (LocalFileSystem(), to)
        system.makedirs(root, exist_ok=True)
        names = (str(path).rstrip("/").rpartition("/")[2] for path in system.ls(root, detail=False))
        earlier = sorted(name for name in names if _MOMENT.fullmatch(name))
        name = next_name(earlier, now)
        latest = json.dumps({"export": name}).encode()
        if isinstance(system, LocalFileSystem):
            folder.rename(Path(root, name))
            link = Path(root, f".{LATEST}")
            link.unlink(missing_ok=True)
            link.symlink_to(name, target_is_directory=True)
            link.replace(Path(root, LATEST))
            write_file(Path(root, f"{LATEST}.json"), latest, mode=SHARED_FILE)
        else:
            system.put(str(folder), f"{root}/{name}", recursive=True)
            system.pipe_file(f"{root}/{LATEST}.json", latest)
        for older in [*earlier, name][:-KEPT]:
            system.rm(f"{root}/{older}", recursive=True)
    except ImportError as error:
        raise WarehouseError(f"{to} needs a library of its own: {error}") from error
    except (OSError, ValueError) as error:
        raise WarehouseError(f"{to} cannot be written: {error}") from error
    return f"{to.rstrip('/')}/{name if '://' in to else LATEST}"
