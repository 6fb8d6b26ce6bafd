"""Export: the published file in other formats, in a folder that is replaced as a whole."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from pipelines.foreign_text import FORMULA_SIGNS, file_name
from pipelines.upkeep.workbook import write_workbook
from warehouse.errors import explained
from warehouse.publishing.table_export import PublishedTable, TableExport, table_export
from warehouse.store.files import PRIVATE_FILE, SHARED_FILE, SHARED_FOLDER, make_folder, sync

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

FOLDER, LATEST = "export", "latest"
"""Where the export is, next to the published file, unless the settings name another folder."""
WORKBOOK = "brokerbi.xlsx"


def export(
    settings: Settings,
    now: datetime,
    *,
    formats: Sequence[str] = (),
    to: str = "",
    tables: Sequence[str] = (),
) -> Path:
    """Write the tables in the formats and folder of the settings, or in those given; returns the folder.

    Replaces the previous export; exports run one at a time. Raises WarehouseError if a file cannot be read
    or written.
    """
    to = to or settings.export_to
    root = Path(to).absolute() if to else settings.data_dir / FOLDER
    unfinished = root / ".unfinished"
    with explained(root), table_export(settings.data_dir) as source:
        chosen = source.tables(tables)
        make_folder(root, SHARED_FOLDER)
        with FileLock(root / ".lock", mode=PRIVATE_FILE):
            shutil.rmtree(unfinished, ignore_errors=True)  # left by a killed process
            make_folder(unfinished)
            try:
                for format_ in dict.fromkeys(formats or settings.export_formats or ("parquet",)):
                    if format_ == "xlsx":
                        write_workbook(unfinished / WORKBOOK, source, chosen, now, settings.language)
                    else:
                        _write_files(source, chosen, unfinished / format_)
                for path in [unfinished, *unfinished.rglob("*")]:
                    path.chmod(SHARED_FOLDER if path.is_dir() else SHARED_FILE)
                    sync(path)
                _put_in_place(unfinished, root / LATEST)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
    return root / LATEST


def _write_files(source: TableExport, tables: Sequence[PublishedTable], folder: Path) -> None:
    """Write each table as a file, in the format that the folder is named after."""
    folder.mkdir()
    for table in tables:
        path = folder / f"{file_name(table.name)}.{folder.name}"
        if folder.name == "parquet":
            source.write_parquet(table, path)
        else:
            source.write_csv(table, path, FORMULA_SIGNS)


def _put_in_place(folder: Path, latest: Path) -> None:
    """Replace the latest export by the folder."""
    earlier = latest.with_name(".earlier")
    shutil.rmtree(earlier, ignore_errors=True)
    if latest.is_symlink():  # an earlier version kept two exports
        latest.unlink()
    elif latest.exists():
        latest.rename(earlier)
    folder.rename(latest)
    shutil.rmtree(earlier, ignore_errors=True)
