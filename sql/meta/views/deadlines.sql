-- From when on is what is awaited late?
CREATE OR REPLACE VIEW meta.deadlines AS
SELECT 36 AS late_after_hours;
COMMENT ON VIEW meta.deadlines IS 'From when on is what is awaited late?';
COMMENT ON COLUMN meta.deadlines.late_after_hours IS
    'how many hours a report may be without a success, and the lake behind';
