"""What of a page's own figures is missing or doubtful, in words of its readers; causes are for operators.

A problem is told where a figure of the page comes from the report in question: that of an office on the page
of that office and of the chain, that of a group, which may answer for any office, on all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from zoneinfo import ZoneInfo

from pipelines.page.facts import Facts
from pipelines.page.figures import COMMISSION, Shown
from pipelines.page.language import Language, local_day

SUBJECTS: Mapping[str, str] = {
    "commission_office": "commission",
    "commission_user": "agents",
    "sales": "sales",
    "tips_and_leads": "leads",
    "users": "directory",
    "budget_commission": "budgets",
    "office_budget_commission": "budgets",
    "user_budget_commission": "budgets",
    "budget_sold_estates": "budgets_of_homes",
    "office_budget_estate": "budgets_of_homes",
    "user_budget_estate": "budgets_of_homes",
}
"""The reports that figures of the pages come from, by what these figures are called."""
CHECKS: Mapping[str, str | None] = {
    "budgets_are_understood": "budgets",
    "commissions_are_not_negative": "commission",
    "foreign_money_has_a_rate": None,
    "leads_have_an_office": "leads",
    "month_changes_add_up": None,
    "parts_and_prices_are_not_negative": "sales",
    "reports_reconcile": None,  # told by where they differ
    "running_commissions_have_an_office": None,
    "sales_explain_restatements": "sales",
    "sales_stand_in_one_month": "sales",
    "shares_of_a_sale_are_whole": "sales",
    "users_are_not_added_up_twice": "agents",
}
"""What a check that failed makes doubtful; of any other it is the commission."""
MEASURES = {"budgets": COMMISSION, "budgets_of_homes": "sold estates"}
MARKS = {"failed": "failed", "held back": "held_back", "no access": "no_access"}
MOST_NAMED = 2

Doubt = tuple[str, str, str | None, date | None]
"""What has happened, to what, at which customer, and of which month or day."""


def verdict(facts: Facts, words: Language, timezone: ZoneInfo, office: str | None = None) -> Shown:
    """What to mind of the figures of the chain, or of one office, in one sentence; else that all is well."""
    wrong = [*_sentences(facts, words, timezone, office), *_differences(facts, words, office)]
    if facts.missing:
        wrong.append(words.text("verdict.missing"))
    if wrong:
        return {"level": "warning", "sign": "!", "text": f"{words.text('verdict.begin')} {'; '.join(wrong)}"}
    if not facts.standings:
        return {"level": "warning", "sign": "!", "text": words.text("verdict.nothing")}
    is_compared = any(one["compared_count"] for one in facts.agreements)
    return {"level": "well", "sign": "✓", "text": words.text(f"verdict.{'well' if is_compared else 'fresh'}")}


def _sentences(facts: Facts, words: Language, timezone: ZoneInfo, office: str | None) -> list[str]:
    names = {row.office_id: row.office_name for row in facts.office_months}
    found: dict[str, list[Doubt]] = {}
    for one in (*_unread(facts), *_late(facts, timezone), *_problems(facts, office)):
        if office is None or one[2] in (None, office) or one[2] not in names:
            found.setdefault(one[0], []).append(one)
    return [_sentence(key, doubts, names if office is None else {}, words) for key, doubts in found.items()]


def _sentence(key: str, doubts: Sequence[Doubt], names: Mapping[str, str], words: Language) -> str:
    subjects = [one for one in dict.fromkeys(SUBJECTS.values()) if one in {doubt[1] for doubt in doubts}]
    days = sorted({doubt[3] for doubt in doubts if doubt[3]})
    period = (words.day(days[0]) if key == "late" else words.period(days[0], days[-1])) if days else ""
    return words.text(
        f"doubts.{key}" if days or key not in ("failed", "held_back", "late") else f"doubts.{key}_always",
        what=words.listed([words.text(f"doubts.{one}") for one in subjects]),
        period=period,
        where=_where({doubt[2] for doubt in doubts}, names, words),
    )


def _where(customers: Collection[str | None], names: Mapping[str, str], words: Language) -> str:
    """The offices that a doubt is about; nothing of a group, or of all."""
    offices = sorted(names[one] for one in customers if one and one in names)
    if not offices or len(offices) < len(customers):
        return ""
    if len(offices) > MOST_NAMED:
        return words.text("doubts.of_offices", len(offices))
    return words.text("doubts.of", names=words.listed(offices))


def _unread(facts: Facts) -> Iterable[Doubt]:
    """What failed, is held back or refused, but for budgets that another report brings."""
    for one in facts.marks:
        subject = SUBJECTS.get(one.report)
        if subject and one.state in MARKS and not _has_other(facts, subject, one.customer):
            yield MARKS[one.state], subject, one.customer, one.month


def _late(facts: Facts, timezone: ZoneInfo) -> Iterable[Doubt]:
    unread = _unread_reports(facts)
    for one in facts.standings:
        subject = SUBJECTS.get(one.report)
        if not subject or not one.is_late or (one.report, one.customer) in unread:
            continue
        if not _has_other(facts, subject, one.customer):
            read = one.last_success_utc
            yield "late", subject, one.customer, local_day(read, timezone) if read else None


def _unread_reports(facts: Facts) -> set[tuple[str, str]]:
    return {(one.report, one.customer) for one in facts.marks if one.state in MARKS}


def _has_other(facts: Facts, subject: str, customer: str) -> bool:
    """Whether another report with the same budgets is read of the customer, and on time."""
    if subject not in MEASURES:
        return False
    unread = _unread_reports(facts)
    return any(
        SUBJECTS.get(one.report) == subject
        and one.customer == customer
        and one.is_awaited
        and not (one.is_late or (one.report, one.customer) in unread)
        for one in facts.standings
    )


def _problems(facts: Facts, office: str | None) -> Iterable[Doubt]:
    """Rows that were not loaded, changes that nobody told, budgets of an unknown shape, and failed checks.

    A check says not of which office: it is told on the page of the chain, on all if it is an error.
    """
    known = {row.measure for row in facts.budgets if row.budget is not None}
    for one in facts.problems:
        subject = SUBJECTS.get(one["report"] or "")
        match one["kind"]:
            case "quarantine" | "changes unknown" if subject:
                yield one["kind"].replace(" ", "_"), subject, one["customer"], one["month"]
            case "assumption":
                for budgets, measure in MEASURES.items():
                    if measure not in known and (subject == budgets or not one["report"]):
                        yield "unknown_shape", budgets, None, None
            case "not refreshed" if office is None:
                yield "not_refreshed", "commission", one["customer"], None
            case "check" if office is None or one["severity"] == "error":
                if concerned := CHECKS.get(one["check_name"], "commission"):
                    yield "check", concerned, None, None


def _differences(facts: Facts, words: Language, office: str | None) -> list[str]:
    """In how many places reports differ, of all offices or of one."""
    count = sum(one["different_count"] for one in facts.agreements)
    if office is not None:
        names = {row.office_name for row in facts.office_months if row.office_id == office}
        count = sum(one["office_name"] in names for one in facts.differences)
    return [words.text("verdict.differ", count)] if count else []
