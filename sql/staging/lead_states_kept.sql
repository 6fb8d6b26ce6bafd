-- How were leads first read, and how when they were not new any more, at earlier builds?
-- One row per lead or tip, and one more for those that are not new any more.
SELECT * FROM meta.lead_states
