-- When is an expected answer late?
-- Columns:
--   late_after_hours: how many hours a report may be without a success, and the lake without a publication
CREATE OR REPLACE VIEW meta.deadlines AS
SELECT 36 AS late_after_hours;
