"""What every report requests, compared with the facts of the interface, which are repeated here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pipelines.catalogue.model import Report
from pipelines.catalogue.reports import REPORTS

INTERFACE = Path(__file__).resolve().parents[3] / "docs" / "interface.md"
DATES = {"dateFrom", "dateTo"}
MONTHS = {"fromYear", "fromMonth", "toYear", "toMonth"}


@dataclass(frozen=True)
class Operation:
    """A row of the table of operations: its query and its reports."""

    path: str
    required: frozenset[str]
    optional: frozenset[str]
    here: str

    @classmethod
    def of(cls, line: str) -> Operation:
        path, query, here = (cell.strip() for cell in line.strip("|\n").split("|"))
        required, _, optional = query.partition("[")
        names = frozenset(required.split()), frozenset(optional.strip("] ").split())
        return cls(path.strip("`"), *names, here)

    @property
    def reports(self) -> dict[str, str]:
        """The reports that read it: on, off or on demand."""
        return {name: how or "on" for name, how in re.findall(r"`(\w+)`(?: \((off|on demand)\))?", self.here)}


LINES = re.findall(r"^\| `/.* \| .* \| .*$", INTERFACE.read_text(encoding="utf-8"), re.MULTILINE)
OPERATIONS = [Operation.of(line) for line in LINES]
ENUMERATIONS = {
    "assignment": {"Writing", "Valuation", "Sale"},
    "selectionType": {"Create", "Access", "Agreement", "Changed", "LatestPropertyChangeDate"},
    "activeStatusTipLead": {"Active", "ActiveAndRemoved", "Removed"},
}
# Interface, Limits: whole calendar months one request may span.
LIMITS = {
    "CommissionOfficeReport": 12,
    "CommissionOfficeReportByMonth": 12,
    "CommissionUserReport": 12,
    "TipsAndLeads/Report": 2,
    "RunningCommissions": 2,
    "LiveData/Report": 2,
    "LiveData/CommissionReport": 2,
}


def asked_of(report: Report) -> set[str]:
    """Every query parameter that a request for the report carries."""
    asked = set(report.endpoint.query)
    asked |= {report.endpoint.choices.parameter} if report.endpoint.choices else set()
    asked |= set() if "{customerId}" in report.endpoint.path else {"customerId"}
    asked |= {"dates": DATES, "month bounds": MONTHS}.get(report.endpoint.time_parameters, set())
    asked |= {"pageIndex", "pageSize"} if report.endpoint.paged else set()
    if by_id := report.endpoint.by_id:
        asked |= {name for name in by_id.parameters if f"{{{name}}}" not in report.endpoint.path}
    return asked


def test_the_table_of_operations_names_every_report_and_whether_it_is_on() -> None:
    listed = {name: state for operation in OPERATIONS for name, state in operation.reports.items()}
    assert listed == {
        name: "on demand" if report.timing.on_demand else "on" if report.timing.enabled else "off"
        for name, report in REPORTS.items()
    }


def test_a_report_sends_all_required_parameters_and_no_unknown_one() -> None:
    for name, report in REPORTS.items():
        path = report.endpoint.path
        operation = next(one for one in OPERATIONS if name in one.reports and one.path.startswith(path))
        assert operation.required <= asked_of(report) <= operation.required | operation.optional, name


def test_a_fixed_parameter_has_a_value_of_its_enumeration() -> None:
    for endpoint in (report.endpoint for report in REPORTS.values()):
        choices = endpoint.choices
        chosen = [(choices.parameter, value) for value in choices.values] if choices else []
        for name, value in [*endpoint.query.items(), *chosen]:
            assert value in ENUMERATIONS[name], endpoint.path


def test_no_request_spans_more_months_than_the_limit() -> None:
    for endpoint in (report.endpoint for report in REPORTS.values()):
        for operation, limit in LIMITS.items():
            if re.search(rf"/{operation}(/|$)", endpoint.path):
                assert endpoint.request_months <= limit, endpoint.path


def test_the_parts_of_a_request_fit_together() -> None:
    for name, endpoint in ((name, report.endpoint) for name, report in REPORTS.items()):
        places = set(re.findall(r"{(\w+)}", endpoint.path))
        ids = set(endpoint.by_id.parameters) if endpoint.by_id else set()
        assert places <= {"customerId", "year", "month"} | ids, name
        assert ({"year", "month"} <= places) is (endpoint.time_parameters == "month in path"), name
        for source in endpoint.by_id.ids_from if endpoint.by_id else ():
            assert len(source.columns) == len(ids), name


def test_the_request_of_a_report_and_its_rows_agree() -> None:
    for name, report in REPORTS.items():
        tops = [table for table in report.tables if table.parent is None]
        by_id = report.endpoint.by_id
        assert report.month_of_row != "window" or report.endpoint.window_months == 1, name
        assert report.month_of_row != "documented date" or all(table.dated_by for table in tops), name
        assert report.has_months is (report.endpoint.time_parameters != "none"), name
        assert not report.endpoint.paged or all(table.key for table in tops), name  # pages are proven by ids
        assert report.timing.on_demand is bool(by_id and not by_id.ids_from), name
        for table in report.tables:
            assert not by_id or set(by_id.columns) <= {column.name for column in table.requested}, table.name
