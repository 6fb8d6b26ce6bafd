"""Sections of the pages about earnings: headline figures, months, offices, agents, leaderboard and leads.

Each is data for the template, or none where the file has nothing to say.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

from pipelines.page.downloads import download
from pipelines.page.facts import Facts, OfficeEarnings, Row
from pipelines.page.figures import (
    COMMISSION,
    VAT,
    BudgetProgress,
    ChartMonth,
    EarnedTotal,
    OfficeMonths,
    Shown,
    chart,
    last_months,
    ratio,
    sum_of,
)
from pipelines.page.gap import note_on_leaving
from pipelines.page.language import Language
from pipelines.page.last_year import (
    agents_on_last_month,
    agents_on_last_year,
    office_on_last_year,
    offices_on_last_month,
    offices_on_last_year,
)

LONGEST_CHART, SHORTEST_CHART = 12, 6
FIGURES = {
    "commission": "commission",
    "homes": "homes",
    "average": "average",
    "beside_sales": "beside_sales",
    "agent": "per_agent",
}
"""The figures of a card by their words, and the sums that they show."""
PERIODS = {
    "year": ("year", 0),
    "month": ("month", 1),
    "quarter": ("quarter", 0),
    "twelve months": ("twelve", 12),
}
"""The periods of the leaderboard, by their words and their months; none where these depend on the month."""
EARNERS = {"user": "agents", "office": "offices"}
LEAD_TABLES = ("kind", "office", "state")


def cards(months: OfficeMonths, words: Language) -> list[Shown]:
    """One card per period; a file without a month has none, one without a whole month only the first."""
    whole = months.last_whole
    found = []
    if months.running is not None:
        found.append(_card(months, words, "running", (months.running,)))
    if whole is not None:
        found.append(_card(months, words, "month", (whole,)))
        found.append(_card(months, words, "year", last_months(whole, whole.month)))
        twelve = last_months(whole, 12)
        if months.since_held(twelve) == twelve:
            found.append(_card(months, words, "twelve", twelve))
    return found


def _card(months: OfficeMonths, words: Language, name: str, period: tuple[date, ...]) -> Shown:
    """A period as far as it is held; one that is not over is compared with no year before and no budget."""
    wanted, period = period, months.since_held(period)
    offices, is_over = months.offices, name != "running"
    total = months.total(offices, period)
    compared = months.compared(offices, period) if is_over else None
    progress = months.progress(offices, period) if is_over else None
    notes = _notes_on_what_is_known(total, words)
    if period != wanted:
        notes.append(words.text("cards.held_since", month=words.month(period[0])))
    end = months.progress(offices, period[-1:], year_end=True) if name == "year" else None
    if end:
        notes.insert(0, _on_the_years_end(months, end, words))
    if not is_over:
        notes.append(words.text("cards.running_note"))
    elif compared is None:
        before = period[0].replace(year=period[0].year - 1)
        began = months.began_after(offices[0], before) if len(offices) == 1 else None
        key = "began" if began else "no_year_before"
        notes.append(words.text(f"cards.{key}", month=words.month(began) if began else ""))
    elif compared[0].offices < len(offices):
        notes.append(words.text("cards.compared", known=compared[0].offices, all=len(offices)))
    return {
        "title": words.text(f"cards.{name}"),
        "period": words.period(period[0], period[-1]),
        "figures": tuple(
            {
                "name": words.text(f"cards.{figure}"),
                "value": (words.short if figure == "homes" else words.number)(
                    getattr(total, field) if total.known else None
                ),
                "on_year_before": ratio(*(getattr(one, field) for one in compared)) if compared else None,
            }
            for figure, field in FIGURES.items()
        ),
        "progress": progress,
        "less": months.if_vat(progress.share) if progress else None,
        "of_budget": _of_budget(months, progress, words) if progress and progress.share is not None else "",
        "has_forecast": end is not None,
        "notes": notes,
    }


def _of_budget(months: OfficeMonths, progress: BudgetProgress, words: Language) -> str:
    """What is reached of a budget, also if VAT is in it where nobody has said, and by how many offices."""
    less = months.if_vat(progress.share)
    said = words.text(
        "cards.of_budget" if less is None else "cards.of_budget_vat",
        share=words.percent(progress.share),
        left=words.percent(less),
        vat=words.percent(VAT),
        budget=words.sek(progress.budget),
    )
    if progress.offices < len(months.offices):
        said += words.text("cards.of_offices", known=progress.offices, all=len(months.offices))
    return said


def _on_the_years_end(months: OfficeMonths, end: BudgetProgress, words: Language) -> str:
    said = {"amount": words.brief(end.actual), "share": words.percent(end.share), "offices": ""}
    if end.offices < len(months.offices):
        said["offices"] = words.text("cards.of_offices", known=end.offices, all=len(months.offices))
    less = months.if_vat(end.share)
    if less is None:
        return words.text("cards.year_end", **said)
    return words.text("cards.year_end_vat", **said, vat=words.percent(VAT), left=words.percent(less))


def _notes_on_what_is_known(total: EarnedTotal, words: Language) -> list[str]:
    notes = []
    if total.known < total.wanted:
        notes.append(words.text("cards.unheld", total.wanted - total.known))
    if total.cut_short:
        first, *others = total.cut_short
        note = words.text("cards.cut", office=first.office_name, day=words.day(read_until(first)))
        if others:
            note += "; " + words.text("cards.more_cut", len(others))
        notes.append(note)
    return notes


def read_until(row: OfficeEarnings) -> date:
    """The day to which a month is known: its last, or that of its reading, in UTC, if it was cut short."""
    if row.is_whole:
        return row.month.replace(day=calendar.monthrange(row.month.year, row.month.month)[1])
    return max(row.read_at_utc.date(), row.month) if row.read_at_utc else row.month


def months_section(months: OfficeMonths, name: str, words: Language) -> Shown | None:
    """Charts of commission, homes and commission per active agent by month; none without a month.

    A month counts as marts.chain_month has it: what is held of it, marked where that is not all. Only whole
    months stand beside a year before and a budget; nothing budgeted is no budget. `rows` is newest first.
    """
    if months.newest is None or months.oldest is None:
        return None
    held = (months.newest.year - months.oldest.year) * 12 + months.newest.month - months.oldest.month + 1
    longest = LONGEST_CHART + (months.newest == months.running)  # twelve whole months, as on the card
    shown = last_months(months.newest, max(SHORTEST_CHART, min(longest, held)))
    commission = [_chart_month(months, month, "commission", COMMISSION) for month in shown]
    homes = [_chart_month(months, month, "homes", "sold estates") for month in shown]
    agents = [_chart_month(months, month, "per_agent", "") for month in shown]
    charts = [
        chart(words.text("months.commission"), commission, words),
        chart(words.text("months.homes"), homes, words, places=1, finest=1),
    ]
    if any(one.value is not None for one in agents):
        charts.append(chart(words.text("months.agent"), agents, words))
    head, rows = _numbers_of(charts, shown, words)
    return {
        "name": name,
        "charts": charts,
        "rows": list(zip(*(one["columns"][::-1] for one in charts), strict=True)),
        "sentences": office_on_last_year(months, words) if len(months.offices) == 1 else [],
        "pale": _pale(charts, words),
        "has_before": any(one["has_before"] for one in charts),
        "has_budget": any(one["has_budget"] for one in charts),
        "less": words.text("months.less", vat=words.percent(VAT))
        if any(one["has_less"] for one in charts)
        else "",
        "download": download(words, words.text("months.heading"), head, rows),
    }


def _pale(charts: Sequence[Shown], words: Language) -> str:
    """What a pale column of the charts is; nothing where there is none."""
    kinds = ("open", "part")
    found = [words.text(f"months.{one}") for one in kinds if any(chart[f"has_{one}"] for chart in charts)]
    return words.text("months.open_or_part") if len(found) == len(kinds) else "".join(found)


def _chart_month(months: OfficeMonths, month: date, field: str, measure: str) -> ChartMonth:
    """A month of all offices together, with the year before and the budgets of the offices that have one."""
    total = months.total(months.offices, [month])
    before = months.total(months.offices, [month.replace(year=month.year - 1)])
    is_open = months.running == month
    is_part = total.known < total.wanted or bool(total.cut_short)
    rows = [months.budgets.get((office, month, measure)) for office in months.offices]
    budget = sum_of(row.budget for row in rows if row is not None)
    is_compared = not (is_open or is_part)
    is_before_whole = before.known == before.wanted > 0 and not before.cut_short
    value = getattr(total, field) if total.known else None
    has_budget = bool(budget) and is_compared
    return ChartMonth(
        month,
        value,
        getattr(before, field) if is_compared and is_before_whole else None,
        budget if has_budget else None,
        months.if_vat(value) if has_budget and measure == COMMISSION else None,
        is_open,
        is_part and not is_open,
    )


def _numbers_of(
    charts: Sequence[Shown], shown: Sequence[date], words: Language
) -> tuple[list[str], list[list[object]]]:
    """The numbers behind charts as a table: a column for each series, the newest month first."""
    head = [words.text("page.month")]
    rows: list[list[object]] = [[f"{month:%Y-%m}"] for month in shown]
    for one in charts:
        series = ["value", *(name for name in ("before", "budget", "less") if one[f"has_{name}"])]
        for name in series:
            said = "" if name == "value" else f", {words.text(f'months.{name}', vat=words.percent(VAT))}"
            head.append(one["title"] + said)
            for row, column in zip(rows, one["columns"], strict=True):
                row.append(getattr(column["month"], name))
    return head, rows[::-1]


def offices_section(months: OfficeMonths, words: Language, files: Mapping[str, str]) -> Shown | None:
    """The year of each office, those with the highest commission first, each with its page if it has one."""
    last = months.last_whole or months.newest
    if last is None:
        return None
    year = months.since_held(last_months(last, last.month))
    years = [_office_year(months, words, office, year, files.get(office, "")) for office in months.offices]
    years.sort(key=lambda one: -one["total"].commission)
    budgets = [one["progress"].budget for one in years if one["progress"]]
    head = [
        words.text(f"offices.{one}") for one in "office commission of_budget last_year homes agent".split()
    ]
    head += months.heads_if_vat((head[2],), words)
    return {
        "period": words.period(year[0], last)
        + ("" if months.last_whole else ", " + words.text("page.so_far")),
        "years": years,
        "sentences": [*offices_on_last_month(months, words), *offices_on_last_year(months, words)]
        if len(months.offices) > 1
        else [],
        "vat": words.text("gap.vat_unknown", vat=words.percent(VAT))
        if budgets and months.may_have_vat
        else "",
        "longest": max([*(one["total"].commission for one in years), *budgets]),
        "has_budget": bool(budgets),
        "has_agents": any(one["total"].per_agent is not None for one in years),
        "download": download(
            words,
            words.text("offices.heading"),
            head,
            [
                [
                    one["name"],
                    one["total"].commission if one["total"].known else None,
                    one["progress"].share if one["progress"] else None,
                    None if one["on_year_before"] is None else one["on_year_before"] - 1,
                    one["total"].homes if one["total"].known else None,
                    one["total"].per_agent,
                    months.if_vat(one["progress"].share) if one["progress"] else None,
                ][: len(head)]
                for one in years
            ],
        ),
    }


def _office_year(
    months: OfficeMonths, words: Language, office: str, year: Sequence[date], file: str
) -> Shown:
    total = months.total([office], year)
    compared = months.compared([office], year)
    note = ""
    known = [
        row for month in year if (row := months.rows.get((office, month))) and row.commission is not None
    ]
    if known and (not known[-1].is_whole or known[-1].month < year[-1]):
        note = words.text("offices.stopped", day=words.day(read_until(known[-1])))
    elif total.known < len(year):
        note = words.text("offices.months_missing")
    elif months.last_whole is None:
        note = words.text("page.so_far")
    elif began := months.began_after(office, year[0].replace(year=year[0].year - 1)):
        note = words.text("page.active_since", month=words.month(began))
    progress, year_end = months.progress([office], year), months.progress([office], year[-1:], year_end=True)
    return {
        "name": months.names[office],
        "file": file,
        "total": total,
        "less": months.if_vat(total.commission) if progress else None,
        "note": note,
        "on_year_before": ratio(*(one.commission for one in compared)) if compared else None,
        "progress": progress,
        "of_budget": months.of_budget(progress.share if progress else None, words),
        "year_end": f"{words.brief(year_end.actual)} ({months.of_budget(year_end.share, words)})"
        if year_end
        else "–",
    }


def agents_section(facts: Facts, months: OfficeMonths, words: Language) -> Shown | None:
    """What each agent of an office earned this year; none where the user report is not held."""
    agents = [one for one in facts.agents if one["commission"] is not None]
    if not agents:
        return None
    last = agents[0]["month"]
    first = max(last.replace(month=1), min(months.oldest or last, last))
    rows = [
        {
            "name": one["name"],
            "commission": one["commission"],
            "homes": one["sold_estate_parts"],
            "a_month": ratio(one["commission"], one["active_months"]),
            "before": one["commission_before"],
            "in_month": one["in_month"],
            "on_year_before": ratio(one["commission"], one["commission_before"]),
            "homes_before": one["sold_estate_parts_before"],
            "new_since": one["new_since"],
            "is_newcomer": _is_newcomer(one, last),
            "new": _since(one, last, words),
            "left": words.text("gap.left") if one["has_left"] else note_on_leaving(one, words),
            "note": ", ".join(_notes_on_agent(one, words)),
        }
        for one in agents
    ]
    columns = ("agent", "commission", "before", "homes", "a_month")
    in_month = words.month(last) if first < last and rows[0]["in_month"] is not None else ""
    return {
        "period": words.period(first, last),
        "rows": rows,
        "sentences": [
            *agents_on_last_month(months, last, _in_month(facts.agents, words), words),
            *agents_on_last_year(rows, words),
        ],
        "month": in_month,
        "has_before": any(one["before"] is not None for one in rows),
        "longest": max(one["commission"] for one in rows),
        "download": download(
            words,
            words.text("agents.heading"),
            [*(words.text(f"agents.{one}") for one in columns), *([in_month] if in_month else [])],
            [
                [one["name"], one["commission"], one["before"], one["homes"], one["a_month"]]
                + ([one["in_month"]] if in_month else [])
                for one in rows
            ],
        ),
    }


def _in_month(agents: Sequence[Row], words: Language) -> list[Shown]:
    """What agents earned in the last month, and in the same one last year; none where that is unknown."""
    return [
        {
            "name": one["name"],
            "now": one["in_month"],
            "before": one["in_month_before"],
            "note": note_on_leaving(one, words)
            or (_since(one, one["month"], words) if _is_newcomer(one, one["month"]) else ""),
        }
        for one in agents
        if one["in_month"] is not None
    ]


def _is_newcomer(agent: Row, last: date) -> bool:
    """Whether an agent came after the month that the last one is compared with."""
    return agent["new_since"] is not None and agent["new_since"] > last.replace(year=last.year - 1)


def _since(agent: Row, last: date, words: Language) -> str:
    """Since when an agent is there who was not yet in January of last year; empty of the others."""
    if agent["new_since"] is None:
        return ""
    key = "agents.new_since" if _is_newcomer(agent, last) else "page.active_since"
    return words.text(key, month=words.month(agent["new_since"]))


def _notes_on_agent(agent: Row, words: Language) -> list[str]:
    notes = [] if agent["is_complete"] else [words.text("agents.in_part")]
    return [*notes, *([left] if (left := note_on_leaving(agent, words)) else [])]


def leaderboards(facts: Facts, words: Language) -> dict[str, list[Shown]]:
    """The boards that the file has something for, by kind of earner; who has left says so."""
    left = {one["name"]: note_on_leaving(one, words) for one in facts.agents}
    found: dict[str, list[Shown]] = {}
    for kind, heading in EARNERS.items():
        for period, (name, count) in PERIODS.items():
            earners = [one for one in facts.earners if (one["kind"], one["period"]) == (kind, period)]
            if not earners:
                continue
            first, last = earners[0], earners[0]["month"]
            months = count or (last.month if name == "year" else (last.month - 1) % 3 + 1)
            if name == "quarter" and months == 1:  # the month once more
                continue
            board = {
                "title": words.text(
                    f"leaders.{name}" + ("_so_far" if name == "quarter" and months < 3 else "")
                ),
                "period": words.period(last_months(last, months)[0], last),
                "earners": [
                    {**one, "note": left.get(one["name"], "") if kind == "user" else ""} for one in earners
                ],
                "others": max(0, first["earner_count"] - len(earners)),
                "is_complete": first["is_complete"],
            }
            found.setdefault(heading, []).append(board)
    return found


def leads_section(facts: Facts, months: Sequence[date], words: Language, office: str | None) -> Shown | None:
    """Leads of sellers and buyers, by month, and tables of incoming ones; none when there is no lead.

    Of the whole chain, or of one office.
    """
    leads = [one for one in facts.leads if one["office_id"] == office]
    if not leads:
        return None
    all_of = {one["way"]: one for one in leads if one["part"] == "all"}
    incoming = [one for one in leads if one["way"] == "incoming lead"]
    by_month = {one["name"]: Decimal(one["leads"]) for one in incoming if one["part"] == "month"}
    shown = [
        ChartMonth(month, by_month.get(f"{month:%Y-%m}"), is_open=place == len(months) - 1)
        for place, month in enumerate(months)
    ]
    drawn = chart(words.text("leads.chart"), shown, words, finest=1) if by_month and shown else None
    tables = {
        part: [{**one, "name": _named(part, one["name"], words)} for one in incoming if one["part"] == part]
        for part in LEAD_TABLES
    }
    return {
        "incoming": all_of.get("incoming lead"),
        "sides": {one["name"]: one for one in incoming if one["part"] == "side"},
        "outgoing": all_of.get("outgoing lead"),
        "tips": all_of.get("tip"),
        "chart": drawn,
        "tables": {part: rows for part, rows in tables.items() if rows},
        "download": download(words, words.text("leads.chart"), *_numbers_of([drawn], months, words))
        if drawn
        else None,
    }


def _named(part: str, name: str | None, words: Language) -> str | None:
    """A documented state in words, and a kind such as AskedForPrice as Asked for price; all else as it is."""
    if part == "state":
        return str(words.words["lead_states"].get(name, name)) if name else name
    if part != "kind" or not name or not re.fullmatch(r"([A-Z][a-z]+){2,}", name):
        return name
    return re.sub(r"(?<=[a-z])[A-Z]", lambda letter: f" {letter[0].lower()}", name)
