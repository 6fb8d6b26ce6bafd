-- Which budgets of the months were changed, entered or taken back after they were first read?
-- One row per user, measure, month and moment at which another amount was read, the latest first. amount_before is null
-- where the budget was entered, amount_after where it was taken back. What came with the first reading of the month is
-- no change. The changes of a month add up to that of its budget.
-- Without office and user these are the budgets of the chain.
-- Parameters: office, user, first_month, month
WITH budgets AS (
    SELECT *
    FROM marts.budgets
    WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
        AND (
            office_id = getvariable('office')
            OR user_id = getvariable('user')
            OR (getvariable('office') IS NULL AND getvariable('user') IS NULL)
        )
),

first_readings AS (
    SELECT report, customer, month, min(fetched_at_utc) AS first_read_utc
    FROM (
        SELECT report, customer, unnest(months) AS month, fetched_at_utc
        FROM meta.loads
        WHERE status IN ('loaded', 'superseded')
    )
    GROUP BY ALL
),

moments AS (
    SELECT office_id, user_id, month, measure, report, _customer, unnest([valid_from_utc, valid_to_utc]) AS noted_at_utc
    FROM budgets
),

amounts AS (
    SELECT
        moments.*,
        sum(budgets.amount) AS amount
    FROM (SELECT DISTINCT * FROM moments WHERE noted_at_utc IS NOT NULL) AS moments
    LEFT JOIN budgets
        ON budgets.office_id = moments.office_id
        AND budgets.user_id IS NOT DISTINCT FROM moments.user_id
        AND budgets.month = moments.month
        AND budgets.measure = moments.measure
        AND budgets.valid_from_utc <= moments.noted_at_utc
        AND coalesce(budgets.valid_to_utc > moments.noted_at_utc, true)
    GROUP BY ALL
),

compared AS (
    SELECT *, lag(amount) OVER (PARTITION BY office_id, user_id, month, measure ORDER BY noted_at_utc) AS amount_before
    FROM amounts
)

SELECT
    compared.month,
    compared.measure,
    coalesce(offices.office_name, compared.office_id) AS office_name,
    coalesce(users.user_label, compared.user_id, 'nobody in person') AS user_label,
    compared.amount_before,
    compared.amount AS amount_after,
    coalesce(compared.amount, 0) - coalesce(compared.amount_before, 0) AS amount_change,
    compared.noted_at_utc,
    local_day(compared.noted_at_utc, clock) AS noted_on
FROM compared
LEFT JOIN first_readings AS first_read
    ON first_read.report = compared.report
    AND first_read.customer = compared._customer
    AND first_read.month = compared.month
LEFT JOIN marts.users AS users USING (user_id)
LEFT JOIN marts.offices AS offices ON offices.office_id = compared.office_id
LEFT JOIN meta.clock AS clock ON true
WHERE compared.amount IS DISTINCT FROM compared.amount_before
    AND (compared.amount_before IS NOT NULL OR compared.noted_at_utc > first_read.first_read_utc)
ORDER BY compared.noted_at_utc DESC, compared.month, compared.measure, amount_change, user_label
