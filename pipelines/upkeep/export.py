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
    data_dir = Path(data_dir)
    to = fsspec.url_to_fs(to)[1] if to.startswith(LOCAL) else to
    is_address = "://" in to
    root = data_dir / FOLDER if is_address or not to else Path(to).absolute()
    with explained(root), _unfinished_folder(root) as folder:
        publication = Versions(data_dir).current()
        with table_export(data_dir) as source:
            chosen = source.tables(tables)
            too_long = _write_tables(source, chosen, folder, formats, now, language, is_chosen=bool(tables))
            _write_manifest(source, chosen, folder, publication, now)
        files = [path for path in folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        place = _put_at_address(folder, to, now) if is_address else _put_in_place(folder, root, now)
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


def _write_tables(
    source: TableExport,
    tables: Sequence[PublishedTable],
    folder: Path,
    formats: Sequence[str],
    now: datetime,
    language: str,
    *,
    is_chosen: bool,
) -> list[str]:
    """Write the tables in each format; the names of those that are longer than a sheet of a workbook."""
    too_long: list[str] = []
    for format_ in formats:
        if format_ == "xlsx":
            marts = [table for table in tables if table.schema == "marts"]
            too_long = write_workbook(
                folder / WORKBOOK,
                sheets(marts, language, is_chosen=is_chosen),
                source.frame,
                basis=source.tax_basis(),
                published_on=source.published_on() or now.astimezone(UTC).date(),
                language=language,
            )
            continue
        (folder / format_).mkdir()
        for table in tables:
            path = folder / format_ / f"{file_name(table.name)}.{format_}"
            if format_ == "parquet":
                source.write_parquet(table, path)
            else:
                source.write_csv(table, path, FORMULA_SIGNS)
    return too_long


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


def _put_in_place(unfinished: Path, root: Path, now: datetime) -> str:
    """Give the folder its name, let `latest` point at it, and remove the older ones."""
    earlier = sorted(path.name for path in root.iterdir() if _MOMENT.fullmatch(path.name))
    name = next_name(earlier, now)
    unfinished.rename(root / name)
    link = root / f".{LATEST}"
    link.unlink(missing_ok=True)
    link.symlink_to(name, target_is_directory=True)
    link.replace(root / LATEST)
    write_file(root / f"{LATEST}.json", json.dumps({"export": name}).encode(), mode=SHARED_FILE)
    for older in [*earlier, name][:-KEPT]:
        shutil.rmtree(root / older)
    return str(root / LATEST)


def _put_at_address(unfinished: Path, to: str, now: datetime) -> str:
    """Copy the folder to the address, say in latest.json that it is whole, and remove the older ones."""
    try:
        system, root = fsspec.url_to_fs(to)
        system.makedirs(root, exist_ok=True)
        listed = (str(name).rstrip("/").rpartition("/")[2] for name in system.ls(root, detail=False))
        earlier = sorted(name for name in listed if _MOMENT.fullmatch(name))
        name = next_name(earlier, now)
        system.put(str(unfinished), f"{root}/{name}", recursive=True)
        system.pipe_file(f"{root}/{LATEST}.json", json.dumps({"export": name}).encode())
        for older in [*earlier, name][:-KEPT]:
            system.rm(f"{root}/{older}", recursive=True)
    except ImportError as error:
        raise WarehouseError(f"{to} needs a library of its own: {error}") from error
    except (OSError, ValueError) as error:
        raise WarehouseError(f"{to} cannot be written: {error}") from error
    return f"{to.rstrip('/')}/{name}"
