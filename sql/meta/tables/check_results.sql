-- What each check found when it was last run.
CREATE TABLE IF NOT EXISTS meta.check_results (
    name VARCHAR,
    severity VARCHAR,
    question VARCHAR,
    row_count BIGINT,
    sample VARCHAR,
    message VARCHAR,
    checked_at_utc TIMESTAMP,
    concerns VARCHAR,
    finding VARCHAR,
    subjects VARCHAR
);
COMMENT ON TABLE meta.check_results IS 'What each check found when it was last run.';
COMMENT ON COLUMN meta.check_results.name IS 'the check; its file is below sql/checks/';
COMMENT ON COLUMN meta.check_results.severity IS 'error keeps the file from being published, warning does not';
COMMENT ON COLUMN meta.check_results.question IS 'what it asks';
COMMENT ON COLUMN meta.check_results.row_count IS 'rows that offend it; 1 when it could not run';
COMMENT ON COLUMN meta.check_results.sample IS 'some of these rows, as JSON';
COMMENT ON COLUMN meta.check_results.subjects IS
    'what all of these rows are about, as JSON: their customers, offices, reports, months and measures, each once';
COMMENT ON COLUMN meta.check_results.message IS 'why it could not run; empty when it did';
COMMENT ON COLUMN meta.check_results.checked_at_utc IS 'when it ran, in UTC';
COMMENT ON COLUMN meta.check_results.finding IS 'what it found, in a line';
COMMENT ON COLUMN meta.check_results.concerns IS
    'the figures of the pages that are doubtful if it fails: agents, budgets, commission, leads, sales or nothing';
