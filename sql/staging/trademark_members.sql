-- Which offices are listed below a trademark, as far as the shape can be assumed?
-- One row per trademark that stands now and office; nobody has documented trademarks, see staging.trademarks.
-- Columns:
--   landed_trademark BIGINT: row of bi.trademarks (its column _row) that the office is listed below
--   office_id VARCHAR: customer id of the office
-- Expects:
--   bi.trademarks__offices_history: customer_id|office_id|id|key
--   or bi.trademarks__*_history: customer_id|office_id|id|key
SELECT
    given._parent_row AS landed_trademark,
    coalesce(given._said ->> 'customer_id', given._said ->> 'office_id', given._said ->> 'id', given._said ->> 'key') AS office_id
FROM (SELECT *, to_json(_given) AS _said FROM bi.trademarks__offices_history AS _given) AS given
WHERE given.valid_to_utc IS NULL
