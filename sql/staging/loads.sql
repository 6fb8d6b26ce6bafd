-- What did each load request, and where is its answer?
-- One row per load that is still in the ledger.
-- Columns:
--   load_id: the load; _load_id of its rows in bi
--   tables: the tables of bi that hold its rows
--   path: the requested path, with the customer filled in; other placeholders differ between requests
--   window_start: first requested day
--   window_end: last requested day
--   requests: number of requests, retries included
--   fetched_at_utc: when the service gave the answer
--   landing: the file of its requests and answers, below the folder landing of the data directory
--   sha256: checksum of that file
WITH tables_gathered AS (
    SELECT report, array_to_string(list_sort(list('bi.' || table_name)), ', ') AS tables
    FROM meta.tables
    GROUP BY ALL
)

SELECT
    loads.load_id,
    tables_gathered.tables,
    replace(reports.path, '{customerId}', loads.customer) AS path,
    loads.window_start,
    loads.window_end,
    loads.requests,
    loads.fetched_at_utc,
    loads.landing,
    loads.sha256
FROM meta.loads AS loads
SEMI JOIN meta.months AS months USING (load_id)
LEFT JOIN tables_gathered USING (report)
LEFT JOIN meta.reports AS reports USING (report)
