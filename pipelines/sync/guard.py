"""Guard of what is held: what came of a report and customer beside it, and what makes that doubtful.

Held back is what would cost more than half of the rows, or all of several months, what has come empty though
it was filled, amounts that have all become others by one factor, and rows of which nothing is documented that
share no column with those they would replace, as an error message in unknown words does. Few rows say
nothing by their number, so each is compared with itself as it is held: a row does not lose all its amounts,
while a sum may become 0 when a sale is cancelled, but not in several rows and nowhere else another amount,
nor in several months of one office whose amounts no other row has gained. All windows are judged together.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from statistics import median, quantiles
from typing import TYPE_CHECKING

import polars as pl

from warehouse.ledger.window_result import Doubt, DoubtKind

if TYPE_CHECKING:
    from warehouse.handed_over import TableLike
    from warehouse.ledger.window_result import WindowResult
    from warehouse.load.profile import HeldTable

FEWEST_ROWS = 10
"""A customer with fewer rows of a report than this may lose any of them."""
FEWEST_EMPTIED = 3
"""So many months do not lose all their rows at once, however few these are beside all that is held."""
FEWEST_ZERO = 3
"""So many rows do not become 0 at once, if no other row of the month, or of all that came, has an amount,
nor so many months of one office, if other rows have not gained as much as half of it."""
OFFICE = "office_customer_id"
FEWEST_FILLED = 3
"""A row may lose the one or two amounts that it has, but not so many, if all held rows have these."""
CERTAINTY = 10.0
"""What is empty may be so by accident with a chance of e^-10, one in 20,000, and no more."""
FEWEST_AMOUNTS, FEWEST_DIFFERENT = 10, 5
"""So many amounts must have become others by one factor, and so many different ones: equal fees may well
double together."""
FEWEST_OF_ALL = 3
"""So many different amounts are enough where no other amount has come again."""
NEARLY_ALL = 0.9
SAME_FACTOR = 0.005
"""How far factors may lie apart: amounts are rounded."""
SMALLEST_FACTOR = 1.1
"""Amounts in a foreign currency all change with its rate, by less than this; taxes change them by more."""
FEWEST_NEW_AMOUNTS = 20
SMALLEST_NEW_FACTOR = 20.0
"""Of months never held before other rows are compared, and these differ a lot from month to month."""
MOST_NEW_AMOUNTS = 200
"""Amounts of months never held that are looked at, of a window and column."""
MOST_IN_WORDS = 4
ASK = (
    "Ask the service about it; if it is right, launch it with the tag brokerbi/accept_shrink=yes, or give "
    "`brokerbi sync` the option --accept-shrink."
)
Place = tuple[object, ...]
"""The month of a row, and what it is known again by."""
TableMonth = tuple[str, object]
EMPTIED = frozenset(
    {DoubtKind.TABLE_EMPTIED, DoubtKind.COLUMN_EMPTIED, DoubtKind.AMOUNTS_ZERO, DoubtKind.ROWS_NULL}
)


@dataclass
class Comparison:
    """What came of one report and customer so far, beside `held`, what is held of it, by table.

    `rows_held` counts the rows held by month, None for a report without months. What is kept of the rows
    that came is small: the names of columns that were filled and are `empty` so far, or `zero`; of amounts
    that came `again`, the old and the new one; of the rows that did so, by table and month, how many there
    are (`rows_again`) and of how many all amounts are null now (`rows_null`) or 0 (`rows_zero`); of `new`
    months, never held, some amounts. `known` says where in the sample of a table a row is. `is_replaced`
    says that rows would go for others that share no column.
    """

    rows_held: Mapping[date | None, int]
    held: Mapping[str, HeldTable]
    rows: Counter[str] = field(default_factory=Counter)
    empty: dict[str, set[str]] = field(default_factory=dict)
    zero: dict[str, set[str]] = field(default_factory=dict)
    known: dict[str, Mapping[Place, int]] = field(default_factory=dict)
    again: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)
    rows_again: Counter[TableMonth] = field(default_factory=Counter)
    rows_null: Counter[TableMonth] = field(default_factory=Counter)
    rows_zero: Counter[TableMonth] = field(default_factory=Counter)
    zeroed: dict[tuple[str, Place], dict[object, float]] = field(default_factory=dict)
    gained: defaultdict[TableMonth, float] = field(default_factory=lambda: defaultdict(float))
    new: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    is_replaced: bool = False

    def add(self, months: Sequence[date], tables: Sequence[TableLike]) -> None:
        """Take note of the rows of one window, which is about these months."""
        has_new = any(not self.rows_held.get(month) for month in months)
        self.is_replaced = self.is_replaced or self._is_other(months, tables)
        for table in tables:
            held, frame = self.held.get(table.name), table.frame
            if held is None or not held.is_documented:
                continue
            self.rows[table.name] += frame.height
            documented = {column.name for column in table.columns if column.documented}
            amounts = [name for name in held.nonzero if name in documented and frame[name].dtype.is_decimal()]
            empty = self.empty.setdefault(table.name, _known(held.filled) & documented)
            empty -= {name for name in empty if frame[name].null_count() < frame.height}
            zero = self.zero.setdefault(table.name, _known(held.nonzero) & set(amounts))
            zero -= {name for name in zero if (frame[name] != 0).any()}
            if frame.height and held.sample.height:
                self._add_again(table.name, frame, amounts)
                if has_new:
                    self._add_new(table.name, frame, amounts)

    def _is_other(self, months: Sequence[date], tables: Sequence[TableLike]) -> bool:
        """Whether rows of which nothing is documented replace no fewer, and share no column with these."""
        if any(held.is_documented for held in self.held.values()):
            return False
        held = {(name, column.lower()) for name, one in self.held.items() for column in _known(one.filled)}
        came = {
            (table.name, column.name.lower())
            for table in tables
            for column in table.frame
            if not column.name.startswith("_") and column.null_count() < table.frame.height
        }
        going = sum(self.rows_held.get(month, 0) for month in months or (None,))
        is_fewer = sum(table.frame.height for table in tables) <= going
        return bool(held and came) and is_fewer and held.isdisjoint(came)

    def _add_again(self, name: str, frame: pl.DataFrame, amounts: Sequence[str]) -> None:
        """Take note of the amounts of rows that are held and come again, if they are known for sure."""
        held = self.held[name]
        columns = ["_month", *held.identity]
        if not set(columns) <= set(frame.columns):
            return
        if name not in self.known:
            self.known[name] = _single(held.sample, columns)
        known = self.known[name]
        single = {place: row for place, row in _single(frame, columns).items() if place in known}
        if not single or not amounts:
            return
        before = held.sample[[known[place] for place in single]].select(amounts)
        now = frame[list(single.values())].select(pl.col(amounts).cast(pl.Float64))
        for column in amounts:
            self.again.setdefault((name, column), []).extend(
                (old, new) for old, new in zip(before[column], now[column], strict=True) if old and new
            )
        if OFFICE in held.identity:
            self._add_offices(name, frame, amounts)
        always = sum(held.filled[column] == held.rows for column in amounts)
        for place, old, new in zip(single, before.iter_rows(), now.iter_rows(), strict=True):
            table_month = (name, place[0])
            self.rows_again[table_month] += any(old)
            if always >= FEWEST_FILLED and all(amount is None for amount in new):
                self.rows_null[table_month] += 1
            elif any(old) and not any(new):
                self.rows_zero[table_month] += 1

    def _add_offices(self, name: str, frame: pl.DataFrame, amounts: Sequence[str]) -> None:
        """Take note of months of offices that are 0 now, and of what other rows of them have gained."""
        held, known = self.held[name], self.known[name]
        columns = ["_month", *held.identity]
        before = held.sample.select(pl.sum_horizontal(pl.col(amounts).abs())).to_series()
        now = frame.select(pl.sum_horizontal(pl.col(amounts).cast(pl.Float64).abs())).to_series()
        is_null = frame.select(pl.all_horizontal(pl.col(amounts).is_null())).to_series()
        for place, row in _single(frame, columns).items():
            old = before[known[place]] if place in known else 0.0
            self.gained[name, place[0]] += max(now[row] - old, 0)
            if old and not now[row] and not is_null[row]:
                self.zeroed.setdefault((name, place[1:]), {})[place[0]] = old

    def _add_new(self, name: str, frame: pl.DataFrame, amounts: Sequence[str]) -> None:
        """Take note of amounts of months never held."""
        held_months = [month for month, rows in self.rows_held.items() if rows]
        new = frame.filter(pl.col("_month").is_not_null(), ~pl.col("_month").is_in(held_months))
        for column in amounts:
            some = new[column].cast(pl.Float64).abs()
            self.new.setdefault((name, column), []).extend(some.filter(some > 0).head(MOST_NEW_AMOUNTS))

    def doubts(self, fetched: Sequence[WindowResult]) -> tuple[Doubt, ...]:
        """Why the windows must not be loaded without an explicit flag; nothing when they may."""
        if self.is_replaced:
            rows = sum(held.rows for held in self.held.values())
            return (Doubt(DoubtKind.COLUMNS_REPLACED, rows, rows),)
        if lost := rows_lost(self.rows_held, fetched) or months_emptied(self.rows_held, fetched):
            return (lost,)
        emptied = tuple(self._emptied())
        found = {one.table for one in emptied}
        return (
            *emptied,
            *(one for one in self._rows_emptied() if one.table not in found),
            *self._multiplied(),
        )

    def _emptied(self) -> Iterator[Doubt]:
        whole = sum(held.rows for held in self.held.values())
        for name, held in self.held.items():
            came = self.rows[name]
            if name not in self.rows:
                continue  # the catalogue has no such table any more
            if not came and is_no_accident(held.rows, whole, self.rows.total()):
                yield Doubt(DoubtKind.TABLE_EMPTIED, held.rows, held.rows, name)
            for column in sorted(self.empty[name] | self.zero[name]):
                if column in self.empty[name] and is_no_accident(held.filled[column], held.rows, came):
                    yield Doubt(DoubtKind.COLUMN_EMPTIED, held.filled[column], held.rows, name, column)
                elif column in self.zero[name] and is_no_accident(held.nonzero[column], held.rows, came):
                    yield Doubt(DoubtKind.AMOUNTS_ZERO, held.nonzero[column], held.rows, name, column)

    def _rows_emptied(self) -> Iterator[Doubt]:
        """That rows which are known again, however few, have lost all their amounts.

        One that is null is enough, as the sum of nothing is 0; not where amounts are null in other held rows,
        as of a service that writes null for 0. One that is 0 is not: its only sale may be cancelled, and
        an office may have become part of another one.
        """
        for name, held in self.held.items():
            months = [month for table, month in self.rows_again if table == name]
            again = {month: self.rows_again[name, month] for month in months}
            zero = {month: self.rows_zero[name, month] for month in months}
            null = sum(self.rows_null[name, month] for month in months)
            if null:
                yield Doubt(DoubtKind.ROWS_NULL, null, sum(again.values()), name)
            if not months or self.zero[name] != _known(held.nonzero):  # some row has an amount
                zero = {month: rows for month, rows in zero.items() if FEWEST_ZERO <= rows == again[month]}
            rows = max(sum(zero.values()), self._months_of_offices_zero(name))
            if rows >= FEWEST_ZERO:
                yield Doubt(DoubtKind.ROWS_ZERO, rows, sum(again.values()), name)

    def _months_of_offices_zero(self, name: str) -> int:
        """How many months of offices are 0 that no other row has gained, of offices with several of these."""
        gone = [
            sum(self.gained[name, month] * 2 < old for month, old in months.items())
            for (table, _), months in self.zeroed.items()
            if table == name
        ]
        return sum(months for months in gone if months >= FEWEST_ZERO)

    def _multiplied(self) -> Iterator[Doubt]:
        for name, table in self.held.items():
            for column in table.nonzero:
                again, new = self.again.get((name, column), []), self.new.get((name, column), [])
                held = [abs(amount) for amount in table.sample[column] if amount] if new else []
                if found := factor_of_same_rows(again) or factor_of_other_rows(held, new):
                    factor, part, whole = found
                    yield Doubt(DoubtKind.AMOUNTS_MULTIPLIED, part, whole, name, column, factor)


def compared_months(
    asked: Sequence[date | None], rows_held: Mapping[date | None, int]
) -> tuple[date | None, ...]:
    """The months of which the rows held are what those asked for are compared with; none says nothing.

    They are the months that will be replaced, or, where nothing is held of these, the latest before them:
    what is filled only with time is as empty there. Of older months nothing is known.
    """
    if replaced := tuple(month for month in asked if rows_held.get(month, 0)):
        return replaced
    first = min((month for month in asked if month), default=None)
    earlier = [
        month
        for month, rows in rows_held.items()
        if first and month and month < first and rows >= FEWEST_ROWS
    ]
    return (max(earlier),) if earlier else ()


def rows_lost(held: Mapping[date | None, int], fetched: Sequence[WindowResult]) -> Doubt | None:
    """That more than half of all rows would go, or all of a report without months; or nothing.

    `held` counts the rows held of the report and customer by month, None for a report without months.
    """
    _, lost = _rows_lost(held, fetched)
    total = sum(held.values())
    is_emptied = lost == total and None in held
    if lost * 2 <= total or (total < FEWEST_ROWS and not is_emptied):
        return None
    return Doubt(DoubtKind.ROWS_LOST, lost, total)


def months_emptied(held: Mapping[date | None, int], fetched: Sequence[WindowResult]) -> Doubt | None:
    """That all rows of several of the months that were fetched would go, or nothing."""
    now = _rows_now(fetched)
    emptied = {month: held[month] for month, rows in now.items() if not rows and held.get(month) and month}
    if len(emptied) < FEWEST_EMPTIED:
        return None
    return Doubt(DoubtKind.MONTHS_EMPTIED, sum(emptied.values()), sum(held.values()), months=len(emptied))


def shrink_warning(held: Mapping[date | None, int], fetched: Sequence[WindowResult]) -> str:
    """That more than half of the rows of several months go, which are few beside all that is held."""
    of_these, lost = _rows_lost(held, fetched)
    if of_these < FEWEST_ROWS or lost * 2 <= of_these:
        return ""
    return f"{lost} of the {of_these} rows that were held of these months are gone, more than half"


def _rows_lost(held: Mapping[date | None, int], fetched: Sequence[WindowResult]) -> tuple[int, int]:
    """How many rows are held of the months that were fetched, and how many fewer these have now."""
    now = _rows_now(fetched)
    of_these = sum(held.get(month, 0) for month in now)
    return of_these, of_these - sum(now.values())


def _rows_now(fetched: Sequence[WindowResult]) -> Counter[date | None]:
    """The rows of every month that was fetched, 0 where it has none."""
    now: Counter[date | None] = Counter()
    for one in fetched:
        now.update(one.rows_by_month)
    return now


def is_no_accident(filled: int, held: int, came: int) -> bool:
    """Whether something that `filled` of the `held` rows had can hardly be missing in all rows that `came`.

    The chance that none of n rows has what a share f of all rows has is (1 - f)^n. The share is not known
    exactly, so one row with and one without are added to those held; and no more rows that came speak than
    were held. So a column that is filled in every row may be empty in up to 5 rows, and one that is filled in
    a tenth of them in about 90.
    """
    share = (filled + 1) / (held + 2)
    return filled > 0 and -min(came, held) * math.log1p(-share) >= CERTAINTY


def factor_of_same_rows(pairs: Sequence[tuple[float, float]]) -> tuple[float, int, int] | None:
    """The one factor by which amounts of the same rows changed, and how many of those that changed.

    `pairs` are amounts as they were and as they are, none of them 0. None where it is not one factor.
    """
    changed = [(before, now) for before, now in pairs if before != now]
    if not changed:
        return None
    factor = median(now / before for before, now in changed)
    alike = [before for before, now in changed if abs(now / before - factor) <= SAME_FACTOR * abs(factor)]
    are_many = len(changed) >= FEWEST_AMOUNTS and len(set(alike)) >= FEWEST_DIFFERENT
    are_all = len(alike) == len(pairs) and len(set(alike)) >= FEWEST_OF_ALL
    is_one = are_all or (are_many and len(alike) >= NEARLY_ALL * len(changed))
    is_jump = factor >= SMALLEST_FACTOR or factor <= 1 / SMALLEST_FACTOR
    return (factor, len(alike), len(changed)) if is_one and is_jump else None


def factor_of_other_rows(held: Sequence[float], new: Sequence[float]) -> tuple[float, int, int] | None:
    """The factor by which amounts of new months differ from held ones, if it is far beyond what months do.

    All three quartiles must lie so far apart: a month may have more of small amounts, but not only others.
    None where there is no such factor.
    """
    if min(len(held), len(new)) < FEWEST_NEW_AMOUNTS:
        return None
    ratios = [now / before for before, now in zip(quantiles(held), quantiles(new), strict=True)]
    if min(ratios) >= SMALLEST_NEW_FACTOR or max(ratios) <= 1 / SMALLEST_NEW_FACTOR:
        return ratios[1], len(new), len(new)
    return None


def _single(frame: pl.DataFrame, columns: Sequence[str]) -> dict[Place, int]:
    """Where each row is that is the only one with its values in these columns."""
    places = list(zip(*(frame[column].to_list() for column in columns), strict=True))
    times = Counter(places)
    return {place: row for row, place in enumerate(places) if times[place] == 1}


def _known(numbers: Mapping[str, int]) -> set[str]:
    """The names of what is there at all."""
    return {name for name, number in numbers.items() if number}


def reason(doubts: Sequence[Doubt]) -> str:
    """What is doubtful, in sentences."""
    said = [_WORDS[one.kind].format(one=one) for one in doubts[:MOST_IN_WORDS]]
    if len(doubts) > MOST_IN_WORDS:
        said.append(f"{len(doubts) - MOST_IN_WORDS} more like that")
    return f"{', and '.join(said)}; the old rows stay."


def remedy(doubts: Sequence[Doubt]) -> str:
    """What to do about it."""
    if any(one.kind in EMPTIED for one in doubts):
        return f"If the service has renamed what is empty, adapt the report's block. {ASK}"
    return ASK


_WORDS: Mapping[DoubtKind, str] = {
    DoubtKind.ROWS_LOST: "{one.part} of {one.whole} held rows would go, more than half",
    DoubtKind.MONTHS_EMPTIED: "all {one.part} held rows of {one.months} months would go at once",
    DoubtKind.TABLE_EMPTIED: "{one.table} has no row any more and had {one.whole}",
    DoubtKind.COLUMN_EMPTIED: "{one.table}.{one.column} is empty in all rows and was filled in "
    "{one.part} of {one.whole}",
    DoubtKind.COLUMNS_REPLACED: "rows have come with no column that is filled in the {one.whole} held",
    DoubtKind.AMOUNTS_ZERO: "{one.table}.{one.column} is 0 in all rows and was another amount in "
    "{one.part} of {one.whole}",
    DoubtKind.ROWS_NULL: "{one.part} of {one.whole} rows of {one.table} that had amounts have come "
    "without any",
    DoubtKind.ROWS_ZERO: "{one.part} of {one.whole} rows of {one.table} that had amounts have come with 0 in "
    "all of them",
    DoubtKind.AMOUNTS_MULTIPLIED: "{one.table}.{one.column} is {one.factor:.6g} times what it was, in "
    "{one.part} of {one.whole} amounts that changed",
}
