-- What each check found when it was last run.
-- Columns:
--   name: the check; its file is below sql/checks/
--   severity: error or warning; the file of the check says whether it prevents publication
--   question: the question that the check asks
--   row_count: rows that violate the check; 1 if it could not run
--   sample: some of these rows, as JSON
--   message: why the check could not run; empty if it ran
--   since_utc: since when the check has found rows, in UTC; when it ran if it found none
--   concerns: the figures of the pages that are doubtful if it fails: agents, budgets, commission, leads, sales or nothing
--   finding: the result in one line
--   subjects: the distinct customers, offices, reports, months and measures of all violating rows, as JSON
CREATE TABLE IF NOT EXISTS meta.check_results (
    name VARCHAR,
    severity VARCHAR,
    question VARCHAR,
    row_count BIGINT,
    sample VARCHAR,
    message VARCHAR,
    since_utc TIMESTAMP,
    concerns VARCHAR,
    finding VARCHAR,
    subjects VARCHAR
);
