-- The reports of the catalogue, and whether they are asked.
-- Columns:
--   report: name of the report in the catalogue
--   subject: what it is about; null when no longer in the catalogue
--   description: what it tells
--   path: where the service answers it; names in braces are filled in when it is asked
--   is_on: whether it is requested every night; others are switched off or asked on demand
--   is_awaited: whether every night has an answer; one that is asked by id may have nothing to ask for
--   first_month: first day of the first month that it can be requested, as of the latest sync; null for a report without
--     months
--   last_month: first day of the last such month
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
