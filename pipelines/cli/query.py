"""Command `query`: a statement of SQL, or one of the analyses by name, put to the published file."""

from __future__ import annotations

import shutil
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import typer

from pipelines.cli.app import command, option
from pipelines.cli.output import complain, print_records, print_table, read_settings, say
from pipelines.foreign_text import FORMULA_SIGNS
from pipelines.words import count
from warehouse.publishing.published import analyses, first_rows, statement_of, write_answer
from warehouse.store.files import PRIVATE_FILE, SHARED_FILE, replacement

MOST_ROWS = 1000
"""So many rows are shown as a table; files hold them all."""


@command("query")
def run_query(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="SQL_OR_NAME",
            help="a statement, or the name of an analysis or check; without it: a list of analyses",
        ),
    ] = None,
    form: Annotated[Literal["table", "csv", "json", "parquet"], typer.Option("--format")] = "table",
    out: Annotated[Path | None, option("where it is written; else to stdout", "FILE")] = None,
    year: Annotated[int | None, option("for analyses that take a year", "YYYY")] = None,
    office: Annotated[str | None, option("for analyses that take an office", "ID")] = None,
) -> int:
    """Run SQL, an analysis or a check on the published file."""
    settings = read_settings(reading=True)
    if question is None:
        print_records(
            [
                {
                    "analysis": analysis.name,
                    "takes": " ".join(f"--{name}" for name in analysis.parameters),
                    "question": analysis.question,
                }
                for analysis in analyses()
            ]
        )
        return 0
    given = {"year": year, "office": office}
    variables = {name: value for name, value in given.items() if value is not None}
    statement = statement_of(settings.data_dir, question, variables)
    if form == "table":
        _print(settings.data_dir, statement, variables)
    else:
        _write(settings.data_dir, statement, variables, form, out)
    return 0


def _print(data_dir: Path, statement: str, variables: dict[str, Any]) -> None:
    answer = first_rows(data_dir, statement, variables, most=MOST_ROWS)
    numbers = [place for place, is_number in enumerate(answer.is_number) if is_number]
    print_table(answer.columns, [[_written(value) for value in row] for row in answer.rows], right=numbers)
    if not answer.rows:
        complain("brokerbi: the file has no row that answers this")
    if answer.has_more:
        complain(f"brokerbi: the first {count(MOST_ROWS)} rows; --format csv writes them all")


def _written(value: Any) -> str:
    """A value as SQL writes it, on one line: empty for null, without zeros at the end of a number."""
    match value:
        case None:
            return ""
        case Decimal():
            return f"{value.normalize():f}"
        case float() if value.is_integer():
            return f"{value:.0f}"
        case datetime():
            return value.isoformat(" ", "seconds")
        case _:
            return " ".join(str(value).split())


def _write(data_dir: Path, statement: str, variables: dict[str, Any], format_: str, out: Path | None) -> None:
    """Write into the file of --out, whole or not at all, else on stdout."""
    if format_ == "parquet" and not out and sys.stdout.isatty():
        raise ValueError("Parquet is not for a terminal; name a file with --out")
    with TemporaryDirectory() as folder:
        path = out.absolute() if out else Path(folder) / "answer"
        with replacement(path, mode=SHARED_FILE) as unfinished:
            unfinished.touch(mode=PRIVATE_FILE)
            write_answer(
                data_dir, statement, variables, format_=format_, path=unfinished, formula_signs=FORMULA_SIGNS
            )
        if out:
            say(f"{path}")
        elif sys.stdout.isatty():
            say(path.read_text("utf-8").removesuffix("\n"))
        else:
            sys.stdout.flush()
            with path.open("rb") as answer:
                shutil.copyfileobj(answer, sys.stdout.buffer)
            sys.stdout.buffer.flush()
