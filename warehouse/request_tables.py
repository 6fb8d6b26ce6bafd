"""What does the pipeline keep of its own asking? Questions for changes, changed months, requests by day."""

from __future__ import annotations

from warehouse.meta_table import MetaTable

REPORT = ("VARCHAR", "name of the report in the catalogue")
CUSTOMER = ("VARCHAR", "the customer that was asked for")
MONTH = ("DATE", "first day of the month")
FETCHED = ("TIMESTAMP", "when the service answered, in UTC")

PROBES = MetaTable(
    "probes",
    "Every question to the service which sales were changed lately; its rows are not kept.",
    {
        "load_id": ("VARCHAR", "the question"),
        "run_id": ("VARCHAR", "the run that asked"),
        "customer": CUSTOMER,
        "asked_of": ("VARCHAR", "the report that was asked, by the moment of change"),
        "window_start": ("DATE", "first day asked for"),
        "window_end": ("DATE", "last day asked for"),
        "requests": ("BIGINT", "requests made, tries included"),
        "bytes": ("BIGINT", "bytes received"),
        "seconds": ("DOUBLE", "seconds spent in requests"),
        "fetched_at_utc": FETCHED,
        "status": ("VARCHAR", "'answered' or 'failed'"),
        "error": ("VARCHAR", "why there was no answer that could be used"),
        "landing": ("VARCHAR", "the file below landing/ with the answers"),
        "estates": ("BIGINT", "estates that were named as changed"),
        "note": ("VARCHAR", "what was unusual about the answer"),
    },
)
CHANGES = MetaTable(
    "changes",
    "Months in which the service said that something was changed, with the latest change.",
    {
        "report": REPORT,
        "customer": CUSTOMER,
        "month": MONTH,
        "changed_at_utc": ("TIMESTAMP", "when the latest change was made, in UTC, as far as told"),
        "noticed_at_utc": ("TIMESTAMP", "when we were told of it first, in UTC"),
        "estates": ("BIGINT", "estates of the month that were named then"),
        "load_id": ("VARCHAR", "the question that told of it, as in meta.probes"),
    },
)
REQUESTS_BY_DAY = MetaTable(
    "requests_by_day",
    "What was asked of the service: requests by day, customer and report.",
    {
        "day": ("DATE", "the day, in UTC"),
        "customer": CUSTOMER,
        "report": REPORT,
        "requests": ("BIGINT", "requests made, every try counted"),
        "repeated": ("BIGINT", "those of them that repeated an earlier try"),
        "failed": ("BIGINT", "those of them that brought no answer to use"),
        "bytes": ("BIGINT", "bytes received"),
        "seconds": ("DOUBLE", "seconds spent waiting for answers"),
    },
)
