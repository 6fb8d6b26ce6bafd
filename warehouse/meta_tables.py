"""What does the pipeline keep about itself? The tables and views of schema meta, as data."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.meta_table import MetaTable
from warehouse.opening import literal, quoted
from warehouse.request_tables import CHANGES, PROBES, REQUESTS_BY_DAY

FORMAT = 3
"""Raised whenever a table below changes; a file of an older format gets what it lacks, before it is used."""

_REPORT = ("VARCHAR", "name of the report in the catalogue")
_CUSTOMER = ("VARCHAR", "the customer that was asked for")
_MONTH = ("DATE", "first day of the month; null for a report without months")
_LOAD = ("VARCHAR", "the load, as in meta.loads")
_TABLE = ("VARCHAR", "the table of schema bi; a history goes by the name of its current view")
_COLUMN = ("VARCHAR", "the column")
_FETCHED = ("TIMESTAMP", "when the service answered, in UTC")
_LOADED = ("TIMESTAMP", "when the rows were written, in UTC")

LOADS = MetaTable(
    "loads",
    "One row per request window that was asked for: what came, when, and what became of it.",
    {
        "load_id": ("VARCHAR", "the load; _load_id in every table of schema bi"),
        "load_number": ("BIGINT", "its number; _row of its rows is load_number * 2^24 + place in the answer"),
        "run_id": ("VARCHAR", "the run that asked"),
        "report": _REPORT,
        "customer": _CUSTOMER,
        "window_start": ("DATE", "first day asked for; null for a report without dates"),
        "window_end": ("DATE", "last day asked for"),
        "months": ("DATE[]", "first days of the months asked for; empty for a report without months"),
        "history": ("BOOLEAN", "whether it is a snapshot, merged into history"),
        "asked": ("VARCHAR[]", "the ids asked for one by one, where only these were compared"),
        "requests": ("BIGINT", "requests made, tries included"),
        "rows": ("BIGINT", "rows written, over all tables of the report"),
        "bytes": ("BIGINT", "bytes received"),
        "sha256": ("VARCHAR", "checksum of the landing file"),
        "seconds": ("DOUBLE", "seconds spent in requests"),
        "fetched_at_utc": _FETCHED,
        "loaded_at_utc": _LOADED,
        "status": (
            "VARCHAR",
            "'loaded', 'superseded' by a newer, 'landed' (not loaded), 'failed', 'held back', 'no access'",
        ),
        "error": ("VARCHAR", "why it is not loaded"),
        "landing": ("VARCHAR", "the file below landing/ with the answers; null once it was cleared away"),
        "note": ("VARCHAR", "what was unusual about it"),
        "opened": ("BIGINT", "rows of history that began with it"),
        "closed": ("BIGINT", "rows of history that ended with it"),
    },
)
MONTHS = MetaTable(
    "months",
    "Which load is in force for each month of each report and customer.",
    {
        "report": _REPORT,
        "customer": _CUSTOMER,
        "month": _MONTH,
        "load_id": _LOAD,
        "rows": ("BIGINT", "rows of that month, over all tables of the report"),
        "loaded_at_utc": _LOADED,
        "fetched_at_utc": _FETCHED,
        "state": ("VARCHAR", "'held', or 'open' when the month was not over yet"),
    },
)
SCOPES = MetaTable(
    "history_scopes",
    "The newest snapshot merged so far, for each stretch that a snapshot speaks of.",
    {
        "report": _REPORT,
        "customer": _CUSTOMER,
        "month": _MONTH,
        "asked": ("VARCHAR", "the id asked for, where only its rows were compared"),
        "load_id": _LOAD,
        "fetched_at_utc": _FETCHED,
    },
)
TABLES = MetaTable(
    "tables",
    "The tables of schema bi: which report they belong to and how they are kept.",
    {
        "table_name": _TABLE,
        "report": _REPORT,
        "parent_name": ("VARCHAR", "the table whose rows these are nested in"),
        "history": ("BOOLEAN", "whether bi.<name>_history keeps its past"),
        "key": ("VARCHAR[]", "the documented id of a row, as columns"),
        "nested": ("BOOLEAN", "whether its rows point to a parent with _parent_row"),
        "description": ("VARCHAR", "what a row is"),
    },
)
COLUMNS = MetaTable(
    "columns",
    "The service's columns of the tables of schema bi, in their order.",
    {
        "table_name": _TABLE,
        "column_name": _COLUMN,
        "type": ("VARCHAR", "the type of its values; NULL while nothing but null has come (a VARCHAR then)"),
        "documented": ("BOOLEAN", "whether the service's documentation knows it"),
        "source": ("VARCHAR", "where in the answer it stands"),
        "description": ("VARCHAR", "what it means"),
        "first_seen_utc": ("TIMESTAMP", "when an answer first had it, in UTC; null for one that never came"),
        "first_load_id": ("VARCHAR", "the load that first had it"),
        "position": ("INTEGER", "its place among the service's columns of the table, from 0"),
    },
)
COLUMN_CHANGES = MetaTable(
    "column_changes",
    "Every change of a column's type.",
    {
        "table_name": _TABLE,
        "column_name": _COLUMN,
        "from_type": ("VARCHAR", "the type before"),
        "to_type": ("VARCHAR", "the type since"),
        "load_id": ("VARCHAR", "the load that needed the change; null when the documentation did"),
        "changed_at_utc": ("TIMESTAMP", "when that load was fetched, in UTC"),
    },
)
QUARANTINE_ROWS = MetaTable(
    "quarantine_rows",
    "Rows that broke their documented type, and where in landing they stand as they came; not published.",
    {
        "load_id": _LOAD,
        "report": _REPORT,
        "customer": _CUSTOMER,
        "month": ("DATE", "first day of the month the row belongs to; null if unknown"),
        "table_name": _TABLE,
        "column_name": ("VARCHAR", "the column that broke its type, if it was one"),
        "place": ("VARCHAR", "where in the answers of the landing file of the load the row stands"),
        "reason": ("VARCHAR", "what is wrong with it"),
        "fingerprint": ("VARCHAR", "tells whether two rows are the same, and that the right one was found"),
        "fetched_at_utc": _FETCHED,
    },
)
ACCESS = MetaTable(
    "access",
    "Reports the service has refused (403) for a customer.",
    {
        "report": _REPORT,
        "customer": _CUSTOMER,
        "denied_at_utc": ("TIMESTAMP", "when it was refused, in UTC"),
    },
)
WINDOW_CAPS = MetaTable(
    "window_caps",
    "The longest window the service was seen to accept, where it is shorter than documented.",
    {
        "report": _REPORT,
        "customer": _CUSTOMER,
        "days": ("INTEGER", "at most so many days"),
        "months": ("INTEGER", "at most so many calendar months"),
        "learned_at_utc": ("TIMESTAMP", "when this was learned, in UTC"),
    },
)
PUBLICATIONS = MetaTable(
    "publications",
    "Every publication of the analysts' file: made, refused, or rolled back to.",
    {
        "name": ("VARCHAR", "the version, published/warehouse-<version>.duckdb; null when refused"),
        "at_utc": ("TIMESTAMP", "when, in UTC"),
        "status": ("VARCHAR", "'published', 'refused' or 'rolled back'"),
        "last_load_number": ("BIGINT", "every load up to this number is in it"),
        "loads": ("BIGINT", "how many loads are in force in it"),
        "bytes": ("BIGINT", "size of the file"),
        "seconds": ("DOUBLE", "how long the copy took"),
        "header_sha256": (
            "VARCHAR",
            "checksum of the file's header; another one says that somebody wrote to it",
        ),
        "reasons": ("VARCHAR[]", "why it was refused"),
    },
)
CUSTOMERS = MetaTable(
    "customers",
    "The customers of the settings, and those of which something is held although they are there no more.",
    {
        "customer": ("VARCHAR", "customer id, of an office or a group"),
        "name": ("VARCHAR", "its name in the settings; null or empty where nobody gave it one"),
        "start_month": (
            "DATE",
            "first day of the first month to be kept; null when no longer in the settings",
        ),
        "is_active": ("BOOLEAN", "whether it is asked for; what is held of it stays either way"),
    },
)
REPORTS = MetaTable(
    "reports",
    "The reports of the catalogue, and whether they are asked.",
    {
        "report": _REPORT,
        "subject": ("VARCHAR", "what it is about; null when no longer in the catalogue"),
        "description": ("VARCHAR", "what it tells"),
        "path": ("VARCHAR", "where the service answers it; names in braces are filled in when it is asked"),
        "is_on": (
            "BOOLEAN",
            "whether it is asked for every night; others are switched off or asked on demand",
        ),
    },
)
STORAGE = MetaTable(
    "storage",
    "One row about the file itself.",
    {
        "format": ("INTEGER", "version of these tables"),
        "has_traces": ("BOOLEAN", "whether free space may hold what analysts must not see"),
    },
)
TABLES_OF_OURS = (
    LOADS, MONTHS, SCOPES, TABLES, COLUMNS, COLUMN_CHANGES, QUARANTINE_ROWS, ACCESS, WINDOW_CAPS,
    PROBES, CHANGES, REQUESTS_BY_DAY, PUBLICATIONS, CUSTOMERS, REPORTS, STORAGE,
)  # fmt: skip

SCHEMAS = ("bi", "meta", "marts")
_LATE_AFTER_HOURS = 36
_WELL = "(status IN ('loaded', 'superseded'))"

VIEWS = {
    "quarantine": (
        "Rows that broke their documented type: how many, of which table, and why.",
        """
        SELECT report, customer, month, table_name, column_name, reason, count(*) AS "rows",
               min(place) AS first_place, max(load_id) AS load_id, max(fetched_at_utc) AS fetched_at_utc
        FROM meta.quarantine_rows GROUP BY ALL
        """,
    ),
    # epoch_us and make_timestamp give UTC whatever the reader's time zone is, in every 1.x tool
    "freshness": (
        "How fresh each report of each customer is; late means no success for a day and a half.",
        f"""
        WITH tries AS (
            SELECT report, customer,
                   max(fetched_at_utc) FILTER ({_WELL}) AS last_success_utc,
                   max(fetched_at_utc) FILTER (NOT {_WELL}) AS last_failure_utc,
                   arg_max(error, fetched_at_utc) FILTER (NOT {_WELL}) AS last_error
            FROM meta.loads WHERE status <> 'landed' GROUP BY ALL
        ), held AS (
            SELECT report, customer, max(month) AS newest_held_month, count(month) AS held_months
            FROM meta.months GROUP BY ALL
        ), pairs AS (
            SELECT report, customer FROM tries UNION SELECT report, customer FROM meta.access
            UNION
            SELECT report, customer FROM meta.reports, meta.customers WHERE is_on AND is_active
        ), judged AS (
            SELECT report, customer, newest_held_month, coalesce(held_months, 0) AS held_months,
                   last_success_utc, last_failure_utc, last_error,
                   CASE
                       WHEN NOT (coalesce(is_on, true) AND coalesce(is_active, true)) THEN 'switched off'
                       WHEN denied_at_utc IS NOT NULL THEN 'no access'
                       WHEN last_success_utc IS NULL THEN 'never read'
                       WHEN last_success_utc + INTERVAL {_LATE_AFTER_HOURS} HOUR
                           < make_timestamp(epoch_us(now())) THEN 'late'
                       ELSE 'fresh'
                   END AS state
            FROM pairs
            LEFT JOIN tries USING (report, customer)
            LEFT JOIN held USING (report, customer)
            LEFT JOIN meta.access USING (report, customer)
            LEFT JOIN meta.reports USING (report)
            LEFT JOIN meta.customers USING (customer)
        )
        SELECT report, customer, newest_held_month, held_months, last_success_utc,
               CASE WHEN state IN ('fresh', 'late')
                   THEN last_success_utc + INTERVAL {_LATE_AFTER_HOURS} HOUR END AS due_utc,
               last_failure_utc, last_error, state, state IN ('late', 'never read') AS is_late
        FROM judged
        """,
    ),
}


def statements() -> Iterator[str]:
    """Everything that a new file begins with; harmless where it exists already."""
    yield from (f"CREATE SCHEMA IF NOT EXISTS {schema}" for schema in SCHEMAS)
    for table in TABLES_OF_OURS:
        columns = ", ".join(f"{quoted(name)} {type_}" for name, type_ in table.types.items())
        yield f"CREATE TABLE IF NOT EXISTS meta.{table.name} ({columns})"
        yield f"COMMENT ON TABLE meta.{table.name} IS {literal(table.description)}"
        for name, (_, description) in table.columns.items():
            yield f"COMMENT ON COLUMN meta.{table.name}.{quoted(name)} IS {literal(description)}"
    for name, (description, query) in VIEWS.items():
        yield f"CREATE OR REPLACE VIEW meta.{name} AS {query}"
        yield f"COMMENT ON VIEW meta.{name} IS {literal(description)}"
    yield f"INSERT INTO meta.storage SELECT {FORMAT}, false WHERE NOT EXISTS (FROM meta.storage)"
    yield f"UPDATE meta.storage SET format = {FORMAT}"
