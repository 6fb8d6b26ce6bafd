-- Which budgets were entered, changed or taken back after their month was first read, by how much, and when?
-- One row per office, user, month, measure and reading that found a different amount from the reading before.
-- A change is noted when it is first read, not when it was made.
-- A budget that is read for the first time is usually no change. It counts as entered in two cases: its office already
-- had a budget of the measure for the month; or the office and the month of the budget report had been read before.
-- Several budgets of a user for one month and measure are added up.
-- Example: in May the budgets of June are read for the first time: no row. In June the office's only budget is raised
-- from 100 to 120: one row, with the difference 20.
-- Key: office_id, user_id, month, measure, noted_at_utc
-- Columns:
--   noted_at_utc: when the amount was first read, or first missing
--   noted_on: the day of noted_at_utc, in the chain's time zone
--   office_id: customer id of the office
--   office_name: name of the office
--   user_id: id of the user; null if a budget is not for one person
--   month: first day of the month
--   measure: what is budgeted, as in marts.budgets
--   amount_before: the earlier budget; null if there was none
--   amount_after: the later budget; null if it was taken back
--   difference: amount_after less amount_before, with null as zero
--   report: the budget report that the amount comes from
WITH amounts_summed AS (
    SELECT office_id, user_id, month, measure, noted_at_utc, any_value(report) AS report, any_value(_customer) AS customer_id,
        sum(amount) AS amount, sum(budget_count) AS budget_count
    FROM (
        SELECT *, valid_from_utc AS noted_at_utc, 1 AS budget_count FROM marts.budgets WHERE amount IS NOT NULL
        UNION ALL BY NAME
        SELECT * REPLACE (-amount AS amount), valid_to_utc AS noted_at_utc, -1 AS budget_count
        FROM marts.budgets
        WHERE amount IS NOT NULL AND valid_to_utc IS NOT NULL
    )
    GROUP BY office_id, user_id, month, measure, noted_at_utc
),

amounts AS (
    SELECT
        *,
        CASE WHEN sum(budget_count) OVER of_budget > 0 THEN sum(amount) OVER of_budget END AS amount_after,
        min(noted_at_utc) OVER (PARTITION BY office_id, month, measure) AS first_noted_utc
    FROM amounts_summed
    WINDOW of_budget AS (PARTITION BY office_id, user_id, month, measure ORDER BY noted_at_utc)
),

amounts_compared AS (
    SELECT
        *,
        lag(amount_after) OVER (PARTITION BY office_id, user_id, month, measure ORDER BY noted_at_utc) AS amount_before
    FROM amounts
),

first_readings AS (
    SELECT report, customer_id, month, min(read_at_utc) AS first_read_utc
    FROM staging.readings
    WHERE is_loaded
    GROUP BY ALL
),

-- An office is known since the end of the run that first read it, because a run may read budgets last.
offices_first_read AS (
    SELECT totals.office_id, coalesce(runs.read_at_utc, totals.valid_from_utc) AS known_since_utc
    FROM (SELECT office_id, min(valid_from_utc) AS valid_from_utc FROM marts.month_total_versions GROUP BY ALL) AS totals
    ASOF LEFT JOIN (SELECT DISTINCT read_at_utc FROM staging.readings) AS runs
        ON totals.valid_from_utc <= runs.read_at_utc
)

SELECT
    compared.noted_at_utc,
    local_day(compared.noted_at_utc) AS noted_on,
    compared.office_id,
    offices.office_name,
    compared.user_id,
    compared.month,
    compared.measure,
    compared.amount_before::DECIMAL(18, 4) AS amount_before,
    compared.amount_after::DECIMAL(18, 4) AS amount_after,
    (coalesce(compared.amount_after, 0) - coalesce(compared.amount_before, 0))::DECIMAL(18, 4) AS difference,
    compared.report
FROM amounts_compared AS compared
LEFT JOIN first_readings USING (report, customer_id, month)
LEFT JOIN offices_first_read USING (office_id)
LEFT JOIN marts.offices AS offices USING (office_id)
WHERE compared.amount_before IS DISTINCT FROM compared.amount_after
    AND (
        compared.amount_before IS NOT NULL
        OR compared.noted_at_utc > compared.first_noted_utc
        OR (
            compared.noted_at_utc > first_readings.first_read_utc
            AND compared.noted_at_utc > offices_first_read.known_since_utc
        )
    )
ORDER BY compared.noted_at_utc, compared.office_id, compared.user_id, compared.month, compared.measure
