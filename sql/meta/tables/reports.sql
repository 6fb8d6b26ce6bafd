-- The reports of the catalogue, and whether they are asked.
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
COMMENT ON TABLE meta.reports IS 'The reports of the catalogue, and whether they are asked.';
COMMENT ON COLUMN meta.reports.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.reports.subject IS 'what it is about; null when no longer in the catalogue';
COMMENT ON COLUMN meta.reports.description IS 'what it tells';
COMMENT ON COLUMN meta.reports.path IS
    'where the service answers it; names in braces are filled in when it is asked';
COMMENT ON COLUMN meta.reports.is_on IS
    'whether it is asked for every night; others are switched off or asked on demand';
COMMENT ON COLUMN meta.reports.is_awaited IS
    'whether every night has an answer; one that is asked by id may have nothing to ask for';
COMMENT ON COLUMN meta.reports.first_month IS
    'first day of the first month that it can be asked for, as of the latest sync; null for a report without months';
COMMENT ON COLUMN meta.reports.last_month IS 'first day of the last such month';
