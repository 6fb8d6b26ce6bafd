-- Which budgets of the months were changed, entered or taken back after the first reading of their month?
-- One row per moment and agent, of the chain with the office, the latest first. amount_before is null where the budget
-- was entered, amount_after where it was taken back. What a user had at two offices counts at each of them. All is on the
-- basis of the number, as in budgets.sql.
-- Parameters: kind, id, first_month, month, measure
WITH versions AS (
    SELECT
        *,
        lag(amount) OVER of_budget AS last_amount,
        lag(valid_to_utc) OVER of_budget AS last_to_utc,
        lead(valid_from_utc) OVER of_budget AS next_from_utc
    FROM marts.budgets
    WHERE measure = budget_of(getvariable('measure'))
        AND month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
        AND is_asked_for(office_id, user_id)
    WINDOW of_budget AS (PARTITION BY office_id, user_id, month, measure ORDER BY valid_from_utc)
),

first_readings AS (
    SELECT report, customer, month, min(fetched_at_utc) AS first_read_utc
    FROM (
        SELECT report, customer, fetched_at_utc, unnest(months) AS month
        FROM meta.loads
        WHERE status IN ('loaded', 'superseded')
    )
    GROUP BY ALL
),

changes AS (
    SELECT
        versions.office_id, versions.user_id, versions.month, versions.valid_from_utc AS noted_at_utc,
        CASE WHEN last_to_utc = valid_from_utc THEN last_amount END AS amount_before, amount AS amount_after
    FROM versions
    LEFT JOIN first_readings AS first_read
        ON first_read.report = versions.report
        AND first_read.customer = versions._customer
        AND first_read.month = versions.month
    WHERE amount_after IS DISTINCT FROM amount_before
        AND (amount_before IS NOT NULL OR valid_from_utc > first_read.first_read_utc)
    UNION ALL
    SELECT office_id, user_id, month, valid_to_utc, amount, NULL
    FROM versions
    WHERE valid_to_utc IS NOT NULL AND next_from_utc IS DISTINCT FROM valid_to_utc
)

SELECT
    local_day(changes.noted_at_utc, clock) AS noted_on,
    changes.month,
    CASE WHEN getvariable('kind') = 'chain' THEN coalesce(offices.office_name, changes.office_id) END AS office,
    coalesce(users.user_label, changes.user_id, 'nobody in person') AS who,
    sum(on_basis_of_number(changes.amount_before, basis))::DECIMAL(28, 8) AS amount_before,
    sum(on_basis_of_number(changes.amount_after, basis))::DECIMAL(28, 8) AS amount_after,
    sum(on_basis_of_number(coalesce(changes.amount_after, 0) - coalesce(changes.amount_before, 0), basis))::DECIMAL(28, 8) AS difference
FROM changes
LEFT JOIN marts.users AS users USING (user_id)
LEFT JOIN marts.offices AS offices ON offices.office_id = changes.office_id
LEFT JOIN meta.clock AS clock ON true
LEFT JOIN meta.tax_basis AS basis ON true
GROUP BY ALL
ORDER BY noted_on DESC, changes.month, difference, office, who
