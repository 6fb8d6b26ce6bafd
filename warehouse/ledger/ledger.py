"""The ledger: reads and writes loaded months, denied reports, learned limits and pushed budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from warehouse.ledger.changes import ANSWERED, read_changes
from warehouse.ledger.stored_answers import load_row
from warehouse.ledger.window_result import WindowResult, WindowStatus
from warehouse.store.duckdb_file import mappings
from warehouse.store.meta_schema import aware, naive_utc, replace_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.store.database import Store

Pair = tuple[str, str]
"""A report's name and a customer's id."""

# Held-back months are left out: until the operator decides, the same answer would be held back again.
_FAILED = """
    SELECT report, customer, list(month) FROM meta.open_failures
    WHERE status = 'failed' AND month IS NOT NULL GROUP BY ALL
"""
_MONTHS = """
    SELECT report, customer, list(month), list(fetched_at_utc), list(state), list(load_id), list(rows)
    FROM meta.months GROUP BY ALL
"""
_SNAPSHOTS_CHANGED = """
    SELECT report, customer, list(month), list(changed) FROM (
        SELECT report, customer, month, max(changed_at_utc) AS changed
        FROM meta.history_scopes WHERE month IS NOT NULL AND changed_at_utc IS NOT NULL GROUP BY ALL
    ) GROUP BY ALL
"""

_DENIED = "SELECT report, customer, denied_at_utc FROM meta.access"
_MOST_REQUESTS = "SELECT report, customer, max(requests) FROM meta.loads WHERE status = 'loaded' GROUP BY ALL"
LAKE = "lake"
BUDGET = ("plan_id", "office_id", "user_id", "month")
"""The columns that identify a budget in meta.budget_pushes; each measure of the budget has a row."""
_FAILURE_FIELDS = ("trouble", "remedy", "http_status", "last_try", "login")


@dataclass(frozen=True, slots=True)
class StoredMonth:
    """A stored month. `state` is 'open' (see `WindowResult.open_months`) or 'held' (not "held back")."""

    fetched_at_utc: datetime
    state: str
    load_id: str = ""
    rows: int = 0


class PushStatus(StrEnum):
    """The state of a planned budget. PLANNED is never stored; SENT is stored just before sending."""

    PLANNED = "planned"
    SENT = "sent"
    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    CHANGED = "changed meanwhile"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Cap:
    """Learned limits of a report and customer; a limit that was not learned is None.

    A request may span at most `days` days or `months` calendar months. A page may have at most `page_size`
    rows; 0 means that the report is requested without pages. The service truncates answers after `rows` rows.
    An answer of `whole_rows` rows, a round number, looked truncated but was complete.
    """

    days: int | None = None
    months: int | None = None
    page_size: int | None = None
    rows: int | None = None
    whole_rows: int | None = None


@dataclass(frozen=True)
class Ledger:
    """The facts that a plan needs. A report without months is stored under the month None."""

    stored: Mapping[Pair, Mapping[date | None, StoredMonth]] = field(default_factory=dict)
    failed: Mapping[Pair, frozenset[date]] = field(default_factory=dict)  # months whose last try failed
    denied: Mapping[Pair, datetime] = field(default_factory=dict)
    caps: Mapping[Pair, Cap] = field(default_factory=dict)
    # by month with a recorded change: the month is due if it was last fetched before this time
    changed: Mapping[Pair, Mapping[date, datetime]] = field(default_factory=dict)
    # by month of a report with history: when its snapshot last differed from the previous one
    snapshots_changed: Mapping[Pair, Mapping[date, datetime]] = field(default_factory=dict)
    # by customer: the last day for which the service listed changed sales, and when it last denied the list
    probed: Mapping[str, date] = field(default_factory=dict)
    probe_denied: Mapping[str, datetime] = field(default_factory=dict)
    # of loaded windows: the most requests that one took, and the mean seconds per request
    most_requests: Mapping[Pair, int] = field(default_factory=dict)
    request_seconds: float | None = None

    def month(self, report: str, customer: str, month: date | None) -> StoredMonth | None:
        return self.stored.get((report, customer), {}).get(month)

    def months_fetched_since(self, since_utc: datetime) -> Iterator[tuple[str, str, date]]:
        """Report, customer and month of each month fetched since `since_utc`; denied reports are left out."""
        for pair in self.stored.keys() - self.denied.keys():
            for month, stored in self.stored[pair].items():
                if month and stored.fetched_at_utc >= since_utc:
                    yield (*pair, month)


def ledger_of(store: Store) -> Ledger:
    """The ledger of a working file."""
    with store.reading() as connection:
        return read_ledger(connection)


def read_ledger(connection: DuckDBPyConnection) -> Ledger:
    """The ledger of the connected file."""

    def by_pair(query: str) -> dict[Pair, Sequence[Any]]:
        return {
            (report, customer): values for report, customer, *values in connection.execute(query).fetchall()
        }

    stored = {}
    for pair, (months, *columns) in by_pair(_MONTHS).items():
        stored_months = (StoredMonth(aware(at), *values) for at, *values in zip(*columns, strict=True))
        stored[pair] = dict(zip(months, stored_months, strict=True))
    changed: dict[Pair, dict[date, datetime]] = {}
    for change in read_changes(connection):
        changed.setdefault(change.key[:2], {})[change.month] = change.due_since_utc
    probes = connection.execute(
        "SELECT customer, max(window_end) FILTER (status = $1), max(fetched_at_utc) FILTER (note = $2) "
        "FROM meta.probes GROUP BY customer",
        [ANSWERED, WindowStatus.NO_ACCESS.value],
    ).fetchall()
    [(seconds,)] = connection.execute(
        "SELECT sum(seconds) / nullif(sum(requests), 0) FROM meta.loads WHERE status = 'loaded'"
    ).fetchall()
    return Ledger(
        stored=stored,
        failed={pair: frozenset(months) for pair, (months,) in by_pair(_FAILED).items()},
        denied={pair: aware(at) for pair, (at,) in by_pair(_DENIED).items()},
        caps=read_caps(connection),
        changed=changed,
        snapshots_changed={
            pair: dict(zip(months, map(aware, moments), strict=True))
            for pair, (months, moments) in by_pair(_SNAPSHOTS_CHANGED).items()
        },
        probed={customer: day for customer, day, _ in probes if day},
        probe_denied={customer: aware(at) for customer, _, at in probes if at},
        most_requests={pair: most for pair, (most,) in by_pair(_MOST_REQUESTS).items()},
        request_seconds=seconds,
    )


def record_denial(
    connection: DuckDBPyConnection, report: str, customer: str, at: datetime, begun: datetime | None = None
) -> None:
    """Record that a report is denied (403), or left out after other denials, in a run that has `begun`."""
    earlier = connection.execute(
        "SELECT coalesce(since_utc, denied_at_utc) FROM meta.access WHERE (report, customer) = ($1, $2)",
        [report, customer],
    ).fetchone()
    [since] = earlier or [naive_utc(begun or at)]
    row = {"report": report, "customer": customer, "since_utc": since, "denied_at_utc": naive_utc(at)}
    replace_rows(connection, "access", [row], key=["report", "customer"])


def forget_denial(connection: DuckDBPyConnection, report: str, customer: str) -> None:
    """Forget a recorded denial."""
    connection.execute("DELETE FROM meta.access WHERE report = ? AND customer = ?", [report, customer])


def forget_outdated_denials(connection: DuckDBPyConnection) -> None:
    """Forget the denials of reports that were answered later."""
    connection.execute(
        """
        DELETE FROM meta.access AS denied
        WHERE EXISTS (
            SELECT 1 FROM meta.loads AS loads
            WHERE (loads.report, loads.customer) = (denied.report, denied.customer)
              AND loads.status IN ('loaded', 'superseded') AND loads.fetched_at_utc > denied.denied_at_utc
        )
        """
    )


def record_cap(connection: DuckDBPyConnection, report: str, customer: str, cap: Cap, now: datetime) -> None:
    """Record learned limits, and when they were learned.

    A limit that is None keeps its stored value. But a new limit in days deletes the stored limit in months,
    and the other way round.
    """
    stored = read_caps(connection).get((report, customer), Cap())
    if cap.days is None and cap.months is None:
        cap = replace(cap, days=stored.days, months=stored.months)
    if cap.page_size is None:
        cap = replace(cap, page_size=stored.page_size)
    cap = replace(cap, rows=cap.rows or stored.rows, whole_rows=cap.whole_rows or stored.whole_rows)
    if cap != stored:
        row = {"report": report, "customer": customer, **asdict(cap), "learned_at_utc": naive_utc(now)}
        replace_rows(connection, "window_caps", [row], key=["report", "customer"])


def read_caps(connection: DuckDBPyConnection) -> dict[Pair, Cap]:
    """The learned limits, by report and customer."""
    caps = connection.execute(
        "SELECT report, customer, days, months, page_size, rows, whole_rows "
        "FROM meta.window_caps ORDER BY ALL"
    )
    return {(report, customer): Cap(*cap) for report, customer, *cap in caps.fetchall()}


def forget_caps(connection: DuckDBPyConnection) -> None:
    """Forget the learned limits."""
    connection.execute("DELETE FROM meta.window_caps")


def write_due_days(
    connection: DuckDBPyConnection, days: Mapping[tuple[str, str, date | None], tuple[date, str]]
) -> None:
    """Record when the stored months are due next, and why; `days` has both by report, customer and month.

    A stored month that is not in `days` gets no due day. Only differences are written: any write costs a
    checkpoint.
    """
    columns = [[key[index] for key in days] for index in range(3)]
    columns += [[day for day, _ in days.values()], [reason for _, reason in days.values()]]
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE due AS
        SELECT unnest($1::VARCHAR[]) AS report, unnest($2::VARCHAR[]) AS customer,
               unnest($3::DATE[]) AS month, unnest($4::DATE[]) AS due_on, unnest($5::VARCHAR[]) AS reason
        """,
        columns,
    )
    connection.execute(
        """
        UPDATE meta.months AS old SET next_due_on = new.due_on, due_reason = new.reason
        FROM (
            SELECT stored.report, stored.customer, stored.month, due.due_on, due.reason
            FROM meta.months AS stored
            LEFT JOIN due ON (due.report, due.customer) = (stored.report, stored.customer)
                AND due.month IS NOT DISTINCT FROM stored.month
            WHERE (stored.next_due_on, stored.due_reason) IS DISTINCT FROM (due.due_on, due.reason)
        ) AS new
        WHERE (old.report, old.customer) = (new.report, new.customer)
            AND old.month IS NOT DISTINCT FROM new.month
        """
    )
    connection.execute("DROP TABLE due")


def has_rows(connection: DuckDBPyConnection, table: str) -> bool:
    """Whether a table of meta has any row. For example, `months` has none before the first load."""
    return connection.execute(f"SELECT 1 FROM meta.{table} LIMIT 1").fetchone() is not None


def record_failures(connection: DuckDBPyConnection, failures: Sequence[WindowResult], now: datetime) -> None:
    """Record windows that failed, or were held back or denied; each needs a load_id and a fetch time.

    If a window was loaded before, its row in meta.loads stays, and only the `error` of that row is set.
    """
    load_ids = connection.execute(
        "SELECT load_id FROM meta.loads WHERE load_number IS NOT NULL AND list_contains($1, load_id)",
        [[result.load_id for result in failures]],
    )
    loaded = {load_id for (load_id,) in load_ids.fetchall()}
    rows = {}
    for result in failures:
        if result.load_id in loaded:
            connection.execute(
                "UPDATE meta.loads SET error = ? WHERE load_id = ?", [result.reason, result.load_id]
            )
        else:
            rows[result.load_id] = {
                **load_row(result, now),
                **{name: getattr(result.failure, name) for name in _FAILURE_FIELDS},
                "status": result.status.value,
                "error": result.reason,
                "error_kind": result.failure.error,
                "rows": 0,
                "note": "",
            }
    replace_rows(connection, "loads", list(rows.values()), key=["load_id"])


def add_requests(
    connection: DuckDBPyConnection, counts: Mapping[tuple[date, str, str], Mapping[str, float]]
) -> None:
    """Add request counts of a run, by day, customer and report, to the recorded counts."""
    if not counts:
        return
    sums = {key: Counter(numbers) for key, numbers in counts.items()}
    since = min(day for day, *_ in counts)
    for row in mappings(connection.execute("FROM meta.requests_by_day WHERE day >= $1", [since])):
        key = row.pop("day"), row.pop("customer"), row.pop("report")
        if key in sums:
            sums[key].update(row)
    names = ("day", "customer", "report")
    rows = [{**dict(zip(names, key, strict=True)), **total} for key, total in sums.items()]
    replace_rows(connection, "requests_by_day", rows, key=names)


def record_lake(connection: DuckDBPyConnection, now: datetime, error: str = "") -> None:
    """Record that the lake is up to date or, after an error, since when it has been out of date."""
    waits = connection.execute(
        "SELECT waiting_since_utc FROM meta.sinks WHERE sink = $1 AND waiting_count > 0", [LAKE]
    ).fetchall()
    [(waiting_since,)] = waits or [(None,)]
    row = {
        "sink": LAKE,
        "tried_at_utc": naive_utc(now),
        "waiting_count": int(bool(error)),
        "waiting_since_utc": (waiting_since or naive_utc(now)) if error else None,
        "error": error or None,
    }
    replace_rows(connection, "sinks", [row], key=["sink"])


def record_no_lake(connection: DuckDBPyConnection) -> None:
    """Record that no publication waits for the lake. Called if no lake is configured."""
    connection.execute("UPDATE meta.sinks SET waiting_count = 0, error = NULL WHERE waiting_count > 0")


def has_lake(connection: DuckDBPyConnection) -> bool:
    """Whether a write to a lake was ever tried."""
    return bool(connection.execute("SELECT 1 FROM meta.sinks WHERE sink = $1", [LAKE]).fetchall())


def record_push(
    connection: DuckDBPyConnection,
    budget: Mapping[str, Any],
    before: Mapping[str, int | None],
    after: Mapping[str, int | None],
    found: Mapping[str, int | None],
) -> None:
    """Replace the stored state of one planned budget, a row for each measure.

    `before`, `after` and `found` have, by measure, the amount before the plan, the planned amount, and the
    amount that the service showed last. `budget` has the other columns of meta.budget_pushes. Its
    `sent_count` is added to the stored count. If its `sent_at_utc` is empty, the stored time stays.
    """
    earlier = connection.execute(
        f"""
        SELECT coalesce(max(sent_count), 0), max(sent_at_utc) FROM meta.budget_pushes
        WHERE ({", ".join(BUDGET)}) = ($1, $2, $3, $4)
        """,
        [budget[name] for name in BUDGET],
    )
    [(sent_count, sent_at_utc)] = earlier.fetchall()
    state = {
        **budget,
        "sent_count": budget["sent_count"] + sent_count,
        "sent_at_utc": budget["sent_at_utc"] or sent_at_utc,
    }
    rows = [
        {**state, "measure": name, "before": before[name], "after": after[name], "found": found.get(name)}
        for name in after
    ]
    replace_rows(connection, "budget_pushes", rows, key=(*BUDGET, "measure"))
