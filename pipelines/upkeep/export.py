"""Export: the published file in other formats, as a folder that appears whole or not at all.

Each export is a folder named by its moment; the link `latest` moves to the newest in one step.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from pipelines.foreign_text import FORMULA_SIGNS, file_name
from pipelines.upkeep.workbook import write_workbook
from warehouse.errors import WarehouseError, explained
from warehouse.publishing.table_export import PublishedTable, TableExport, table_export
from warehouse.store.files import PRIVATE_FILE, SHARED_FILE, SHARED_FOLDER, make_folder, sync
from warehouse.store.versions import next_name

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

FOLDER = "export"
"""Where exports are, next to the published file, unless the settings name another folder."""
WORKBOOK = "brokerbi.xlsx"
LATEST = "latest"
KEPT = 2
"""The newest export and the one before, which may still be read."""
_MOMENT = re.compile(r"\d{8}T\d{6}Z")
_UNFINISHED, _LOCK = ".unfinished", ".lock"


@dataclass(frozen=True)
class Export:
    """An export that was made: its folder, its size, and the tables that are longer than a sheet."""

    place: str
    files: int
    bytes: int
    seconds: float
    too_long: tuple[str, ...]


def export(
    settings: Settings,
    now: datetime,
    *,
    formats: Sequence[str] = (),
    to: str = "",
    tables: Sequence[str] = (),
) -> Export:
    """Write the tables as the settings say unless other formats or places are named; remove older exports.

    Raises WarehouseError for what cannot be read or written.
    """
    began, data_dir = time.monotonic(), settings.data_dir
    to = to or settings.export_to
    root = Path(to).absolute() if to else data_dir / FOLDER
    too_long: list[str] = []
    with explained(root), _unfinished_folder(root) as folder:
        with table_export(data_dir) as source:
            chosen = source.tables(tables)
            for format_ in dict.fromkeys(formats or settings.export_formats or ("parquet",)):
                if format_ == "xlsx":
                    path = folder / WORKBOOK
                    too_long = write_workbook(path, source, chosen, now, settings.language)
                else:
                    _write_files(source, chosen, folder / format_)
        for path in [folder, *folder.rglob("*")]:
            path.chmod(SHARED_FOLDER if path.is_dir() else SHARED_FILE)
            sync(path)
        files = [path for path in folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        _put_in_place(folder, root, now)
    return Export(str(root / LATEST), len(files), size, time.monotonic() - began, tuple(too_long))


def refresh_export(settings: Settings, now: datetime) -> Export | str:
    """The export of a new publication, or the sentence that says why it failed."""
    try:
        return export(settings, now)
    except Exception as error:  # noqa: BLE001 - the numbers are published even if their export is not
        why = str(error) if isinstance(error, WarehouseError) else f"{type(error).__name__}: {error}"
        return f"The export could not be written, the earlier one stays: {why}"


def remove_exports(data_dir: Path) -> int:
    """Remove all exports next to the published file; returns how many there were."""
    root = data_dir / FOLDER
    exports = _exports(root)
    shutil.rmtree(root, ignore_errors=True)
    return len(exports)


def _exports(root: Path) -> list[str]:
    """The names of the exports in a folder, the oldest first."""
    return sorted(path.name for path in root.glob("*") if _MOMENT.fullmatch(path.name))


def _write_files(source: TableExport, tables: Sequence[PublishedTable], folder: Path) -> None:
    """Write each table as a file, in the format that the folder is named after."""
    folder.mkdir()
    for table in tables:
        path = folder / f"{file_name(table.name)}.{folder.name}"
        if folder.name == "parquet":
            source.write_parquet(table, path)
        else:
            source.write_csv(table, path, FORMULA_SIGNS)


@contextmanager
def _unfinished_folder(root: Path) -> Iterator[Path]:
    """A folder to write into, removed afterwards unless it was moved; one export at a time."""
    unfinished = root / _UNFINISHED
    make_folder(root, SHARED_FOLDER)
    with FileLock(root / _LOCK, mode=PRIVATE_FILE):
        shutil.rmtree(unfinished, ignore_errors=True)  # a killed process may have left one
        make_folder(unfinished)
        try:
            yield unfinished
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _put_in_place(folder: Path, root: Path, now: datetime) -> None:
    """Give the folder its name, point the link `latest` to it, and remove older exports."""
    earlier = _exports(root)
    name = next_name(earlier, now)
    folder.rename(root / name)
    link = root / f".{LATEST}"
    link.unlink(missing_ok=True)
    link.symlink_to(name, target_is_directory=True)
    link.replace(root / LATEST)
    for older in [*earlier, name][:-KEPT]:
        shutil.rmtree(root / older)
