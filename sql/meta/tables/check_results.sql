-- What each check found when it was last run.
-- Columns:
--   name: the check; its file is below sql/checks/
--   severity: error keeps the file from being published, warning does not
--   question: what it asks
--   row_count: rows that violate it; 1 if it could not run
--   sample: some of these rows, as JSON
--   message: why it could not run; empty if it ran
--   checked_at_utc: when it ran, in UTC
--   concerns: the figures of the pages that are doubtful if it fails: agents, budgets, commission, leads, sales or nothing
--   finding: what it found, in a line
--   subjects: the distinct customers, offices, reports, months and measures of these rows, as JSON
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
