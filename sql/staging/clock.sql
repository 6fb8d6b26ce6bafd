-- What is the time zone of the service's times?
-- One row, null if no run has recorded it.
SELECT any_value(timezone) AS timezone FROM meta.clock
