-- What did users do in a month?
-- One row per requested customer, user, month and measure.
-- The service documents no measures: each number in the user's row that is not an id is taken as one.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   office_id: customer id of the office that the answer names with the user; null if it names none
--   user_id: id of the user
--   month: first day of the month
--   load_id: the load it comes from; joins meta.loads
--   measure: what is counted, under the service's name
--   amount DECIMAL(18, 4): how many; null if it is a text that cannot be read
SELECT
    measures._customer AS customer_id, measures.office_id, measures.user_id,
    measures._month AS month, measures._load_id AS load_id, measures.measure,
    coalesce(TRY_CAST(measures.amount AS DECIMAL(18, 4)), parsed_amount(measures.amount)) AS amount
FROM (
    SELECT _customer, office_id, user_id, _month, _load_id, unnest(counts_in(to_json(_users)), recursive := true)
    FROM bi.live_activity AS _users
) AS measures
