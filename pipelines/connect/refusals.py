"""Is one door closed, or all of them? Counts who is refused with 403, over customers and reports."""

from __future__ import annotations

from collections import defaultdict

FEWEST_CUSTOMERS = 3
FEWEST_REFUSALS = 6
SHUT_AFTER_REPORTS = 3


class Refusals:
    """What every customer and report was answered in one run, as far as 403 is concerned.

    A login may cover one report and not another, and one customer and not another; neither proves
    anything about the rest. `reports` is how many the run asks for.
    """

    def __init__(self, reports: int = SHUT_AFTER_REPORTS) -> None:
        self._reports = reports
        self._refused: defaultdict[str, set[str]] = defaultdict(set)
        self._open_customers: set[str] = set()
        self._open_reports: set[str] = set()
        self._in_a_row: set[tuple[str, str]] = set()

    def note(self, customer: str, report: str, *, refused: bool) -> None:
        """Remember an answer; any other answer than 403 shows that the customer's door is open."""
        if refused:
            self._refused[customer].add(report)
            self._in_a_row.add((customer, report))
        else:
            self._open_customers.add(customer)
            self._open_reports.add(report)
            self._in_a_row.clear()

    def is_mass_refusal(self) -> bool:
        """Whether every report, of at least three customers, was refused in a row and nothing answered."""
        customers = {customer for customer, _ in self._in_a_row}
        reports = {report for _, report in self._in_a_row}
        return (
            len(customers) >= FEWEST_CUSTOMERS
            and len(reports) >= self._reports
            and len(self._in_a_row) >= FEWEST_REFUSALS
        )

    def is_shut(self, customer: str) -> bool:
        """Whether one customer was refused three reports, also such as others get, and answered none."""
        refused = self._refused.get(customer, set())
        return (
            customer not in self._open_customers
            and len(refused) >= SHUT_AFTER_REPORTS
            and not refused.isdisjoint(self._open_reports)
        )
