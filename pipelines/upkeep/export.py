"""Export: the published file in other formats, in a folder that is replaced as a whole.

The workbook is for managers: a cover that explains the columns, and the sheets of workbook.toml. All other
tables and columns are only in the Parquet and CSV files.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs
import xlsxwriter
from filelock import FileLock

from pipelines import units
from pipelines.foreign_text import FORMULA_CHARS, file_name
from warehouse.errors import translate_errors
from warehouse.publishing.table_export import PublishedTable, TableExport, copy_as_csv, table_export
from warehouse.store.files import PRIVATE_FILE, SHARED_FILE, SHARED_FOLDER, make_folder, sync

if TYPE_CHECKING:
    from pipelines.settings.model import Settings

FOLDER, LATEST = "export", "latest"
"""The default folder of exports in the data directory, and its subfolder with the latest export."""
WORKBOOK_OPTIONS = {"strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True}
NUMBER_FORMATS = {
    units.MONTH: "yyyy-mm",
    units.DAY: "yyyy-mm-dd",
    units.SHARE: "0.0%",
    units.PERCENT: "#,##0.00##",
    units.PARTS: "#,##0.00##",
}
"""The format of each unit; numbers of other units are shown without decimals."""
WIDTHS = {"missing_offices": 400, "agents": 400, "words": 400}
"""The width in pixels of columns with long texts."""
_BASIS_QUERY = """
    SELECT commission_vat, vat_rate, commission_basis,
        (SELECT arg_max(at_utc, rowid)::DATE FROM meta.publications WHERE status = 'published')
    FROM marts.tax_basis
"""


def export(settings: Settings, *, formats: Sequence[str] = (), folder: str = "") -> Path:
    """Export the published file, by default in the formats and to the folder of the settings.

    Replaces the previous export, even if it has other formats. Returns the folder of the new one. Raises
    WarehouseError if a file cannot be read or written.
    """
    folder = folder or settings.export_to
    root = Path(folder).absolute() if folder else settings.data_dir / FOLDER
    unfinished = root / ".unfinished"
    with translate_errors(root), table_export(settings.data_dir) as source:
        tables = source.tables()
        make_folder(root, SHARED_FOLDER)
        with FileLock(root / ".lock", mode=PRIVATE_FILE):
            shutil.rmtree(unfinished, ignore_errors=True)  # left by a killed process
            make_folder(unfinished)
            try:
                for format_ in dict.fromkeys(formats or settings.export_formats or ("parquet",)):
                    if format_ == "xlsx":
                        _write_workbook(unfinished / "brokerbi.xlsx", source, tables, settings.language)
                    else:
                        _write_files(source, tables, unfinished / format_)
                for path in [unfinished, *unfinished.rglob("*")]:
                    path.chmod(SHARED_FOLDER if path.is_dir() else SHARED_FILE)
                    sync(path)
                _replace_latest(unfinished, root / LATEST)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
    return root / LATEST


def _write_files(source: TableExport, tables: Sequence[PublishedTable], folder: Path) -> None:
    folder.mkdir()
    for table in tables:
        path = folder / f"{file_name(table.name)}.{folder.name}"
        if folder.name == "parquet":
            source.write_parquet(table, path)
        else:
            copy_as_csv(source.connection, table.select, path, FORMULA_CHARS)


def _replace_latest(folder: Path, latest: Path) -> None:
    earlier = latest.with_name(".earlier")
    shutil.rmtree(earlier, ignore_errors=True)
    if latest.is_symlink():  # left by an earlier release
        latest.unlink()
    elif latest.exists():
        latest.rename(earlier)
    folder.rename(latest)
    shutil.rmtree(earlier, ignore_errors=True)


def workbook_contents() -> dict[str, Any]:
    """The contents of workbook.toml."""
    return tomllib.loads(Path(__file__).with_name("workbook.toml").read_text("utf-8"))


def _write_workbook(path: Path, source: TableExport, tables: Sequence[PublishedTable], language: str) -> None:
    """Write the cover and the sheets; a sheet without rows is left out.

    If commission includes VAT, the VAT is deducted from the columns listed in workbook.toml as `with_vat`.
    """
    contents = workbook_contents()
    cover, headers = (
        {name: text[language] for name, text in contents[part].items()} for part in ("cover", "columns")
    )
    vat, vat_rate, stated_basis, published_on = source.frame(_BASIS_QUERY).row(0)
    rate = float(vat_rate or 0) if vat == "included" else 0.0
    bases = {code: text.format(rate=f"{100 * rate:g} %") for code, text in contents["basis"][vat].items()}
    by_name = {table.name: table for table in tables}
    meanings = []
    with xlsxwriter.Workbook(path, WORKBOOK_OPTIONS) as book:
        cover_sheet = book.add_worksheet(cover["name"])
        for sheet in contents["sheets"]:
            if (table := by_name.get(sheet["table"])) is None:
                continue
            where, order = sheet.get("where", "true"), sheet["order"]
            frame = source.frame(f"{table.select} WHERE {where} ORDER BY {order}")
            if frame.is_empty():
                continue
            frame = frame.select(column for column in sheet["columns"].split() if column in frame.columns)
            columns = [column for column in table.columns if column.name in frame.columns]
            frame = frame.with_columns(
                cs.by_name(contents["with_vat"].split(), require_all=False) / (1 + rate),
                cs.string().replace(contents["values"].get(language, {})),
                cs.boolean().replace_strict({True: cover["yes"], False: cover["no"]}),
            )
            name = sheet["names"][language]
            _write_sheet(book, name, frame, headers, {column.name: column.type for column in columns})
            meanings.append((name, "", table.name, sheet["meanings"][language]))
            stated = f"as declared in marts.tax_basis: {stated_basis}"
            meanings += [
                (name, headers[column.name], column.name, column.meaning.replace(stated, bases["en"]))
                for column in columns
            ]
        frame = pl.DataFrame(meanings, ("of", "head", "column", "words"), orient="row")
        _write_sheet(book, cover["name"], frame, cover, {}, first_row=3)
        cover_sheet.write_row(0, 0, [cover["published"], str(published_on or "")])
        cover_sheet.write_row(1, 0, [cover["commission"], bases[language]])


def _write_sheet(
    book: xlsxwriter.Workbook,
    name: str,
    frame: pl.DataFrame,
    headers: Mapping[str, str],
    types: Mapping[str, str],  # DuckDB types by column
    first_row: int = 0,
) -> None:
    unit = {headers[column]: units.unit_of(column, type_) for column, type_ in types.items()}
    frame.rename({column: headers[column] for column in frame.columns}).write_excel(
        book,
        name,
        position=(first_row, 0),
        column_formats={head: NUMBER_FORMATS[unit[head]] for head in unit if unit[head] in NUMBER_FORMATS},
        column_widths={headers[name]: width for name, width in WIDTHS.items() if name in frame.columns},
        float_precision=0,
        header_format={"bold": True},
        autofit=True,
        freeze_panes=(first_row + 1, 0),
    )
    sheet = book.get_worksheet_by_name(name)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(first_row)
