"""Commands on the published file: `query` runs SQL or analyses, `explain` traces a number to its source."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import typer

from pipelines.cli.main import Json, command, option, parse_month
from pipelines.cli.output import (
    cell,
    log,
    print_json,
    print_records,
    print_step,
    print_table,
    print_wrapped,
    read_settings,
    say,
    to_sql,
    warn,
)
from pipelines.diagnosis.explain import Explanation, explain, question_of
from pipelines.foreign_text import FORMULA_CHARS
from pipelines.months import Month
from pipelines.words import count, counted, size
from warehouse.publishing.published import analyses, first_rows, statement_of, write_answer
from warehouse.store.versions import Versions

MAX_TABLE_ROWS = 1000
"""`query` shows at most this many rows as a table; other formats have all rows."""
MAX_EXPLAINED_ROWS = 30
"""`explain` shows at most this many rows of each query in sql/explain; --json has all rows."""


@command("query")
def run_query(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="SQL_OR_NAME",
            help="a statement, or the name of an analysis or check; default: list the analyses",
        ),
    ] = None,
    form: Annotated[Literal["table", "csv", "json", "parquet"], typer.Option("--format")] = "table",
    year: Annotated[int | None, option("for analyses that take a year", "YYYY")] = None,
    office: Annotated[str | None, option("for analyses that take an office", "ID")] = None,
) -> int:
    """Run SQL, an analysis or a check on the published file."""
    settings = read_settings(reading=True)
    if question is None:
        rows = [(row.name, " ".join(row.parameters), row.question) for row in analyses()]
        print_table(("analysis", "takes", "question"), rows)
        return 0
    variables = {name: value for name, value in (("year", year), ("office", office)) if value is not None}
    statement = statement_of(settings.data_dir, question, variables)
    if form == "table":
        _print_answer(settings.data_dir, statement, variables)
    else:
        _write_answer(settings.data_dir, statement, variables, form)
    return 0


def _print_answer(data_dir: Path, statement: str, variables: dict[str, Any]) -> None:
    answer = first_rows(data_dir, statement, variables, limit=MAX_TABLE_ROWS)
    numbers = [index for index, is_number in enumerate(answer.is_number) if is_number]
    rows = [[_format_value(value) for value in row] for row in answer.rows]
    print_table(answer.columns, rows, right=numbers)
    if not answer.rows:
        log(f"brokerbi: no rows in the published file, version {Versions(data_dir).current() or 'unknown'}")
    if answer.has_more:
        log(f"brokerbi: these are the first {count(MAX_TABLE_ROWS)} rows; --format csv writes all rows")


def _format_value(value: Any) -> str:
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


def _write_answer(data_dir: Path, statement: str, variables: dict[str, Any], format_: str) -> None:
    is_terminal = sys.stdout.isatty()
    if format_ == "parquet" and is_terminal:
        raise ValueError("Parquet cannot be shown on a terminal; write it to a file with > FILE")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answer"
        write_answer(data_dir, statement, variables, format_=format_, path=path, formula_chars=FORMULA_CHARS)
        if is_terminal:
            say(path.read_text("utf-8").removesuffix("\n"))
            return
        sys.stdout.flush()
        with path.open("rb") as answer:
            shutil.copyfileobj(answer, sys.stdout.buffer)
        sys.stdout.buffer.flush()


@command("explain")
def run_explain(
    month: Annotated[Month, option("the month", "YYYY-MM", parser=parse_month)],
    measure: Annotated[str, option("a column of a monthly mart, or budget_commission", "NAME")],
    office: Annotated[str, option("an id or part of a name; default: the chain", "ID_OR_NAME")] = "",
    user: Annotated[str, option("an id or part of a name", "ID_OR_NAME")] = "",
    json: Json = False,
) -> int:
    """Trace a number back to its stored answers."""
    if office and user:
        raise ValueError("give --office or --user, not both")
    data_dir = read_settings(reading=True).data_dir
    explanation = explain(data_dir, month=month.first_day, measure=measure, office=office, user=user)
    if json:
        print_json(asdict(explanation))
    else:
        print_explanation(explanation)
    return int(bool(explanation.damage))


def print_explanation(explanation: Explanation) -> None:
    """Print a number, its path back to the stored answers, and the related rows."""
    trace, number = explanation.trace, explanation.trace.number
    owner = f"{trace.name} ({number.id})" if number.id else trace.name
    state = ", still to come" if trace.is_ahead else ", so far" if trace.is_open else ""
    say(f"{number.measure} of {owner}, {number.month:%Y-%m}{state}")
    print_step("the mart", f"{to_sql(trace.value)} in marts.{number.mart}")
    if trace.meaning:
        print_step("", trace.meaning)
    if not trace.loads and number.kind != "chain":
        report = number.source.report
        print_step("unknown", f"{report} is not loaded for this month, so the number is unknown, not zero")
        return
    print_step("the rows", f"{counted(trace.row_count, 'row')} of SELECT * {trace.rows}")
    condition = "damaged" if explanation.damage else "as they were stored"
    print_step("the answers", f"{condition}; loaded by these rows of meta.loads:")
    print_records([{**asdict(load), "landing": f"landing/{load.landing}"} for load in trace.loads])
    print_records(
        [
            {
                "status": request.status,
                "size": size(request.bytes),
                "request": f"GET {request.path}?{urlencode(request.query, safe=':')}".rstrip("?"),
            }
            for request in explanation.requests
        ]
    )
    for name, rows in explanation.around.items():
        if rows:
            _print_rows(question_of(name), rows)
    warn(explanation.damage)


def _print_rows(question: str, rows: Sequence[Mapping[str, Any]]) -> None:
    say()
    print_wrapped("", question)
    columns = [name for name in rows[0] if any(cell(name, row[name]) not in ("-", "") for row in rows)]
    print_records(rows[:MAX_EXPLAINED_ROWS], columns)
    if len(rows) > MAX_EXPLAINED_ROWS:
        say(f"and {counted(len(rows) - MAX_EXPLAINED_ROWS, 'more row')}; --json has them all")
