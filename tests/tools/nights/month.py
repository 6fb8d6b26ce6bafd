"""Thirty nights of twenty customers with a fast clock: what each asks, and how late changes reach the file.

`make nights` lets the sandbox's world move on night by night, once with each of its two shapes of answers:
with a year and a month in the rows of budgets, and without. It writes docs/nights.svg and docs/nights.md.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from pipelines.months import Month, months_between
from pipelines.sandbox.answers.snapshot import Snapshot
from pipelines.sandbox.service import Service
from pipelines.sandbox.world.leads_and_tips import INCOMING
from pipelines.sandbox.world.world import World
from tests.scenarios.scenario import FastClock, Scenario, settings_for
from tests.tools.telling import say
from tests.unit.repository.files import ROOT

Shapes = Literal["a", "b"]
Key = tuple[str, str, date | None]
"""What kind of thing may change, whose it is, and the month it is about."""
State = dict[Key, object]

FIRST = date(2026, 9, 10)  # some budgets of the rest of the year are changed in these weeks
HISTORY = 14
NIGHTLY_MONTHS = 3
SHAPES: Mapping[Shapes, str] = {"a": "with year and month in rows", "b": "without"}
COLORS: Mapping[Shapes, str] = {"a": "#2f6f8f", "b": "#c7813a"}

WIDTH, HEIGHT, LEFT, TOP = 720, 300, 48, 28
FONT = 'font-family="sans-serif" font-size="12"'
PAGE = """# Thirty nights

`make nights` lets the sandbox's world move on from {first} to {last}, with {customers} customers
and {history} months of history, once with each of its two shapes of budgets. The clock is fast; what is
counted is what the sandbox was asked. A night on which budgets were changed asks for all that they concern;
`brokerbi plan --all-nights` says what nights cost on which nothing is.

![Requests of each night](nights.svg)

| Budgets | A customer and night, median | first of the month | at most | one customer at most |
|---|---:|---:|---:|---:|
{asked}

How many nights a change was late: 0 is the night that follows it. Older months of leads are read once in
four weeks, and no other report tells of them.

| Budgets | What changed | Changes | 0 | 1 to 7 | more | at most | not yet at the end |
|---|---|---:|---:|---:|---:|---:|---:|
{late}
"""

SALES = "SELECT id, _month, changed_at FROM bi.sales_estates"
LEADS = "SELECT lead_id, _month, lead_state FROM bi.incoming_leads"
USERS = "SELECT id, NULL, cell_phone FROM bi.users"
BUDGETS: Mapping[Shapes, Mapping[str, str]] = {
    "a": {
        "budget, range": "SELECT users.user_id, months._month, months.commission "
        "FROM bi.budget_commission__users__months AS months "
        "JOIN bi.budget_commission__users AS users ON months._parent_row = users._row",
        "budget, month": "SELECT user_id, _month, commission FROM bi.office_budget_commission",
    },
    "b": {
        "budget, range": "SELECT id, _month, budget_commission FROM bi.budget_commission__users",
        "budget, month": "SELECT user_id, _month, commission FROM bi.office_budget_commission",
    },
}


@dataclass
class Nights:
    """What came of the nights of one shape: requests by night, and by kind how many changes were how late."""

    shapes: Shapes
    customers: int
    days: list[date] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    most_of_one: list[int] = field(default_factory=list)  # of the customer that was asked most
    lateness: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    unseen: Counter[str] = field(default_factory=Counter)  # changes not in the file after the last night

    @property
    def per_customer(self) -> list[float]:
        return [number / self.customers for number in self.requests]


def main() -> None:
    """Let both worlds move on, and write the picture and the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--customers", type=int, default=20)
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--activity", type=float, default=0.3, help="how busy the brokers are")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="where nights.svg and nights.md go")
    given = parser.parse_args()
    with ProcessPoolExecutor(len(SHAPES)) as pool:
        started = [
            pool.submit(simulate, shapes, given.customers, given.nights, given.activity) for shapes in SHAPES
        ]
        found = [one.result() for one in started]
    (given.docs / "nights.svg").write_text(drawing(found), encoding="utf-8")
    (given.docs / "nights.md").write_text(page(found), encoding="utf-8")


def simulate(shapes: Shapes, customers: int, nights: int, activity: float) -> Nights:
    """A first sync, then so many nights of a world that moves on."""
    start = Month.of(FIRST).plus(1 - HISTORY)
    world = World.build(start=start, as_of=FIRST, offices=customers, activity=activity)
    noon = FastClock(datetime.combine(FIRST, time(12), UTC))
    result = Nights(shapes, customers)
    with TemporaryDirectory(prefix="nights") as folder:
        settings = settings_for(Path(folder), world.offices, str(start), today=FIRST.isoformat())
        here = Scenario(Service(world, shapes=shapes), settings, noon)
        here.sync()
        say(f"{shapes} {FIRST}: {len(here.asked)} requests for a first sync")
        before: State = truth(here, FIRST)
        waiting: dict[Key, date] = {}
        for day in (FIRST + timedelta(days=number) for number in range(1, nights + 1)):
            here = here.on(day)
            here.sync()
            now = truth(here, day)
            note(result, here, day)
            waiting = dict.fromkeys(changed(before, now), day) | waiting
            held = in_file(here)
            for key in [key for key in waiting if held.get(key) == now.get(key)]:
                since = waiting.pop(key)
                result.lateness[kind(key, since)][(day - since).days] += 1
            say(f"{shapes} {day}: {len(here.asked)} requests, {len(waiting)} changes not seen yet")
            before = now
    result.unseen.update(kind(key, since) for key, since in waiting.items())
    return result


def note(result: Nights, here: Scenario, day: date) -> None:
    """Write down what a night has asked."""
    result.days.append(day)
    result.requests.append(len(here.asked))
    result.most_of_one.append(max(Counter(entry.customer for entry in here.asked).values()))


def changed(before: State, now: State) -> Iterator[Key]:
    """Everything that is not as it was."""
    return (key for key in before.keys() | now.keys() if before.get(key) != now.get(key))


def kind(key: Key, on: date) -> str:
    """The words for what changed, by how near its month was on the day of the change."""
    what, _, day = key
    if day is None:
        return what
    apart = (day.year - on.year) * 12 + day.month - on.month
    if what.startswith("budget"):
        return f"{what}: {'the current and the next two months' if 0 <= apart <= 2 else 'other months'}"
    return f"{what}: {'the current month and the two before' if apart > -NIGHTLY_MONTHS else 'older months'}"


def truth(here: Scenario, day: date) -> State:
    """What the world holds at the end of a day, of the months that are asked for."""
    snapshot = Snapshot(here.service.world.at(day))
    found: State = {}
    for office in here.service.world.offices:
        for one in snapshot.estates(office):
            signed = one.now.contract_on
            if one.estate.assignment == "Sale" and signed and here.settings.start <= Month.of(signed):
                found["sale", one.estate.id, Month.of(signed).first_day] = one.now.known_at
        for lead in snapshot.leads(office):
            created = Month.of(lead.lead.created_at.date())
            if lead.lead.way == INCOMING and here.settings.start <= created:
                found["lead", lead.lead.id, created.first_day] = lead.now.state
        for user, card in snapshot.users(office):
            found["user", user.id, None] = card.cell_phone
        for month in months_between(Month.of(FIRST).plus(-2), Month.of(FIRST).plus(12)):
            for budget in snapshot.budgets(office, month):
                for what in ("budget, range", "budget, month"):
                    found[what, budget.user_id, month.first_day] = float(budget.commission)
    return found


def in_file(here: Scenario) -> State:
    """The same, as the working file holds it."""
    questions = {"sale": SALES, "lead": LEADS, "user": USERS, **BUDGETS[here.service.shapes]}
    found: State = {}
    for what, query in questions.items():
        for whose, month, value in here.rows(query):
            found[what, whose, month] = float(value) if what.startswith("budget") else value
    return found


def drawing(found: Sequence[Nights]) -> str:
    """Requests for each customer, night by night, as a picture without anything from outside."""
    days = found[0].days
    across = (WIDTH - LEFT - 16) / max(len(days) - 1, 1)
    up = (HEIGHT - TOP - 40) / (max(max(one.most_of_one) for one in found) * 1.1)

    def line(values: Sequence[float], style: str) -> str:
        places = (f"{LEFT + n * across:.1f},{HEIGHT - 40 - v * up:.1f}" for n, v in enumerate(values))
        return f'<polyline fill="none" {style} points="{" ".join(places)}"/>'

    def text(x: float, y: float, words: str, style: str = "") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{words}</text>'

    drawn = [text(LEFT, 16, "Requests of a night for each customer: on average, and for the one asked most")]
    for value in range(0, int((HEIGHT - TOP - 40) / up), 20):
        drawn.append(text(LEFT - 8, HEIGHT - 36 - value * up, str(value), 'text-anchor="end"'))
        drawn.append(line([value] * len(days), 'stroke="#ddd"'))
    for number, day in enumerate(days):
        if day.day == 1 or day.day % 7 == 0:
            drawn.append(text(LEFT + number * across, HEIGHT - 22, f"{day:%m-%d}", 'text-anchor="middle"'))
    for number, one in enumerate(found):
        color = COLORS[one.shapes]
        drawn.append(line(one.per_customer, f'stroke="{color}" stroke-width="2"'))
        drawn.append(line(one.most_of_one, f'stroke="{color}" stroke-dasharray="3 3"'))
        words = f"budgets {SHAPES[one.shapes]}"
        drawn.append(text(LEFT + number * 300, HEIGHT - 6, words, f'fill="{color}"'))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>'
    paper = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    return "\n".join([head, paper, *drawn, "</svg>", ""])


def page(found: Sequence[Nights]) -> str:
    """The same as tables, and how late every change was."""
    days = found[0].days
    asked, late = (
        "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)
        for rows in (asked_rows(found), late_rows(found))
    )
    return PAGE.format(
        first=days[0], last=days[-1], customers=found[0].customers, history=HISTORY, asked=asked, late=late
    )


def asked_rows(found: Sequence[Nights]) -> Iterator[tuple[object, ...]]:
    """Requests of each shape."""
    for one in found:
        firsts = [
            f"{asked:.1f}" for day, asked in zip(one.days, one.per_customer, strict=True) if day.day == 1
        ]
        median, most = sorted(one.per_customer)[len(one.days) // 2], max(one.per_customer)
        yield SHAPES[one.shapes], f"{median:.1f}", ", ".join(firsts), f"{most:.1f}", max(one.most_of_one)


def late_rows(found: Sequence[Nights]) -> Iterator[tuple[object, ...]]:
    """Nights until a change was in the file, by shape and kind of change."""
    for one in found:
        for what in sorted({*one.lateness, *one.unseen}):
            late, unseen = one.lateness[what], one.unseen[what]
            week = sum(number for nights, number in late.items() if 0 < nights <= 7)
            later = sum(number for nights, number in late.items() if nights > 7)
            total = late.total() + unseen
            yield SHAPES[one.shapes], what, total, late[0], week, later, max(late, default=0), unseen


if __name__ == "__main__":
    main()
