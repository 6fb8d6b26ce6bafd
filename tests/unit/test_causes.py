"""Causes: conditions with the same cause are one line, for all reports and customers."""

from __future__ import annotations

from datetime import date
from itertools import product

from pipelines.causes import cause_lines, causes, shorten
from warehouse.ledger.conditions import WARNING, Condition, Kind


def failed(customer: str = "M1", report: str = "sales", **more: object) -> Condition:
    """As meta.conditions has it: what has the same behind it has the same key, whomever it concerns."""
    key = f"failed | {more.get('trouble') or more.get('cause') or more.get('error')}"
    return Condition(Kind.FAILED, report=report, customer=customer, cause_key=key, **more)  # type: ignore[arg-type]


def test_a_line_has_the_affected_reports_and_customers_the_error_and_the_remedy() -> None:
    options = " --customer ID --report NAME --from MONTH --to MONTH"
    both = [
        failed(name, error="It is gone.", remedy=f"Run `sync{options}`.", month=date(2026, month, 1))
        for name, month in product(("M1", "M2"), (9, 10))
    ]
    named = "--customer M1 --customer M2 --report sales --from 2026-09 --to 2026-10"
    assert cause_lines(both) == [f"sales of M1, M2, 2026-09..2026-10: It is gone. Run `sync {named}`."]
    assert cause_lines(both[1:])[0].endswith(f"Run `sync{options}`.")  # it would not fit


def test_each_login_and_each_outage_is_one_cause_and_the_largest_errors_come_first() -> None:
    found = [
        Condition(Kind.QUARANTINE, WARNING, error="1 row"),
        failed("M1", cause="Unauthorized", trouble="login X"),
        failed("M2", cause="Unauthorized", trouble="login X"),
        failed("M3", cause="Unauthorized", trouble="login Y"),
        *(
            failed(name, cause=cause, trouble="service", error=cause)
            for name, cause in (("M5", "HostDown"), ("M4", "Unavailable"), ("M6", "Unavailable"))
        ),
    ]
    assert [(one.affected, one.first.error) for one in causes(found)] == [
        ("sales of M4, M5, M6", "HostDown"),
        ("sales of M1, M2", ""),
        ("sales of M3", ""),
        ("", "1 row"),
    ]


def test_one_of_several_errors_with_one_cause_is_an_example() -> None:
    errors = [failed(name, cause="rows lost", error=f"{name} lost rows") for name in ("M1", "M2")]
    outage = [failed(name, cause="HostDown", trouble="service", error=name) for name in ("M1", "M2")]
    assert cause_lines(errors) == ["sales of M1, M2: for example: M1 lost rows."]
    assert cause_lines(outage) == ["sales of M1, M2: M1."]
    assert [shorten("M1 lost rows", limit) for limit in (1, 6, 7, 8)] == ["M…", "M1…", "M1 lost…", "M1 lost…"]


def test_only_some_of_many_customers_are_named_and_further_causes_are_counted() -> None:
    many = [failed(f"c{number:02}", cause="Unavailable") for number in range(30)]
    assert cause_lines(many) == ["sales of c00, c01, c02, c03 and 26 more"]
    assert (
        cause_lines([failed(error=str(number)) for number in range(9)])[-1]
        == "`brokerbi status` shows 3 more causes."
    )
