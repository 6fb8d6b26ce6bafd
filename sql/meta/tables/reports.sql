-- The reports of the catalogue, and whether they are requested.
-- Columns:
--   report: name of the report in the catalogue
--   subject: what the report is about; null if it is no longer in the catalogue
--   description: what the report contains
--   path: path of the report at the service; names in braces are filled in on request
--   is_on: whether nightly runs request it; false if it is switched off, or requested only on demand
--   is_awaited: whether every nightly run should get an answer; false for a report without months that is requested by
--     id, as there may be nothing to request
--   first_month: first day of the first month that can be requested, as of the latest sync; null for a report without
--     months
--   last_month: first day of the last month that can be requested, as of the latest sync; null for a report without
--     months
CREATE TABLE IF NOT EXISTS meta.reports (
    report VARCHAR,
    subject VARCHAR,
    description VARCHAR,
    path VARCHAR,
    is_on BOOLEAN,
    is_awaited BOOLEAN,
    first_month DATE,
    last_month DATE
);
