-- Which budgets does each office and user have, and when did they change?
-- One row per office, user, month, measure and version. Rows without valid_to_utc are current.
-- A version is a period in which the amount did not change. Other columns may change within a version. A version
-- begins when its amount was first read, not when it was set.
-- Several reports may have an amount for the same office, month and measure. The first of these reports counts:
-- budget_..., office_budget_..., user_budget_....
-- If two customers answer for an office, only one of them counts. A row that is only the total of users' rows is left
-- out.
-- Key: office_id, user_id, month, measure, valid_from_utc
-- Columns:
--   office_id: customer id of the office
--   month: first day of the month
--   report: the budget report that the amount comes from
--   valid_from_utc: when this amount was first read
--   valid_to_utc: when this amount was first missing; null while it is current
--   _load_id: the load that first had this amount; joins meta.loads
WITH chosen_budgets AS (
    FROM staging.budgets
    SEMI JOIN marts.office_sources USING (report, office_id, month, customer_id)
    WHERE NOT is_total
    WINDOW of_office AS (PARTITION BY office_id, month, measure)
    QUALIFY preference = coalesce(
        min(preference) FILTER (amount IS NOT NULL) OVER of_office, min(preference) OVER of_office
    )
),

-- Equal rows of an answer are numbered, so that all of them stay.
copies_numbered AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY report, office_id, user_id, month, measure, amount, valid_from_utc
            ORDER BY valid_to_utc NULLS LAST
        ) AS copy
    FROM chosen_budgets
),

begins_marked AS (
    SELECT *, valid_from_utc IS DISTINCT FROM lag(valid_to_utc) OVER of_amount AS begins
    FROM copies_numbered
    WINDOW of_amount AS (
        PARTITION BY report, office_id, user_id, month, measure, amount, copy ORDER BY valid_from_utc
    )
),

versions_numbered AS (
    SELECT *, count(*) FILTER (begins) OVER of_amount AS version
    FROM begins_marked
    WINDOW of_amount AS (
        PARTITION BY report, office_id, user_id, month, measure, amount, copy ORDER BY valid_from_utc
    )
)

SELECT
    office_id,
    user_id,
    month,
    measure,
    amount,
    min(valid_from_utc) AS valid_from_utc,
    last(valid_to_utc ORDER BY valid_from_utc) AS valid_to_utc,
    report,
    customer_id AS _customer,
    month AS _month,
    first(load_id ORDER BY valid_from_utc) AS _load_id
FROM versions_numbered
GROUP BY office_id, user_id, month, measure, amount, copy, version, report, customer_id
ORDER BY ALL
