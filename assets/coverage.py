"""What is held and what is missing? The whole matrix of reports, customers and months on one page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from assets.messages import Owed, grouped
from pipelines.planning.plan import Planned

if TYPE_CHECKING:
    from warehouse.ledger import Ledger

MOST_LINES = 100


def coverage_table(planned: Sequence[Planned], ledger: Ledger) -> str:
    """Reports by customers: months held of all that there are, as a table."""
    customers = list(dict.fromkeys(one.customer.id for one in planned))
    cells = {one.pair: _cell(one, ledger) for one in planned}
    reports = list(dict.fromkeys(one.report.name for one in planned))
    lines = [f"| report | {' | '.join(customers)} |", f"|---|{'---:|' * len(customers)}"]
    for report in reports:
        row = " | ".join(cells.get((report, customer), "") for customer in customers)
        lines.append(f"| {report} | {row} |")
    return "\n".join(lines)


def owed_table(owed: Iterable[Owed]) -> str:
    """What is owed, as a table; equal reasons of a report are told once with all their customers."""
    lines = [
        f"| {report} | {', '.join(customers)} | {what} | {since} | {_flat(why)} |"
        for (report, what, since, why), customers in grouped(owed).items()
    ]
    if not lines:
        return ""
    more = [f"| and {len(lines) - MOST_LINES} more | | | | |"] if len(lines) > MOST_LINES else []
    heads = ["| report | customers | what | since | why |", "|---|---|---|---|---|"]
    return "\n".join([*heads, *lines[:MOST_LINES], *more])


def held_of_all(planned: Iterable[Planned]) -> tuple[int, int]:
    """How many months are held, of how many that there are, over all reports and customers."""
    held = everything = 0
    for one in planned:
        held += len(one.wanted.due) + one.wanted.left
        everything += len(one.wanted.due) + one.wanted.left + len(one.wanted.missing)
    return held, everything


def _cell(one: Planned, ledger: Ledger) -> str:
    if not one.customer.active:
        return "off"
    if one.pair in ledger.denied:
        return "refused"
    if not one.report.has_months:
        return "held" if (*one.pair, None) in ledger.months else "missing"
    held, everything = held_of_all([one])
    return str(held) if held == everything else f"**{held} of {everything}**"


def _flat(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
