"""Is one door closed, or all of them? Counts who is refused with 403, over customers and reports."""

from __future__ import annotations

from collections import defaultdict

FEWEST_CUSTOMERS = 3
ENOUGH_REPORTS = 2
SHUT_AFTER_REPORTS = 3


class Refusals:
    """What every customer and report was answered in one run, as far as 403 is concerned.

    A login may cover one report and not another, so a report refused to everybody proves nothing: a
    customer counts as refused after two reports, none answered. `reports` is how many the run asks
    for; when it is one, that one decides.
    """

    def __init__(self, reports: int | None = None) -> None:
        self._enough = 1 if reports == 1 else ENOUGH_REPORTS
        self._refused: defaultdict[str, set[str]] = defaultdict(set)
        self._answered: set[str] = set()

    def note(self, customer: str, report: str, *, refused: bool) -> None:
        """Remember an answer; any other answer than 403 shows that the customer's door is open."""
        if refused:
            self._refused[customer].add(report)
        else:
            self._answered.add(customer)

    def is_mass_refusal(self) -> bool:
        """Whether at least three customers, and most of those asked, were refused all they asked for."""
        refused = [customer for customer in self._refused if self._is_refused(customer, self._enough)]
        asked = self._refused.keys() | self._answered
        return len(refused) >= FEWEST_CUSTOMERS and len(refused) * 2 > len(asked)

    def is_shut(self, customer: str) -> bool:
        """Whether one customer was refused three reports and answered none: a closed office, most likely."""
        return self._is_refused(customer, SHUT_AFTER_REPORTS)

    def _is_refused(self, customer: str, reports: int) -> bool:
        return customer not in self._answered and len(self._refused.get(customer, ())) >= reports
