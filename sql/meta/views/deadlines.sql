-- When is an expected answer late? Six hours after a night that was missed.
-- Columns:
--   late_after_hours: how many hours a report may be without a success, and the lake without a publication
CREATE OR REPLACE VIEW meta.deadlines AS
SELECT 30 AS late_after_hours;
