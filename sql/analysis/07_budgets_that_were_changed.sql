-- Whose budgets were changed or taken back after their month was first read, by how much, and when, and how many were entered?
-- One row per office, user, month and measure whose budget was changed or taken back; below them, per office, measure and day, how
-- many were entered where there was none before. Without any, one row that says since when none was changed.
--
-- amount_now is null where the budget was taken back; of those entered it is their sum. marts.budget_changes has them one by one,
-- marts.budgets keeps every version; marts.budget_as_of(TIMESTAMP '2026-03-01') shows what stood at a moment.
-- Parameters: year, office
WITH changes AS (
    SELECT
        *,
        count(amount_before) OVER (PARTITION BY office_id, user_id, month, measure) > 0 AS is_changed
    FROM marts.budget_changes
    WHERE year(month) = coalesce(getvariable('year'), year(month))
        AND office_id = coalesce(getvariable('office'), office_id)
),

told AS (
    SELECT
        office_id,
        user_id,
        month,
        measure,
        arg_min_null(amount_before, noted_at_utc) AS first_amount,
        arg_max_null(amount_after, noted_at_utc) AS amount_now,
        count(*) AS change_count,
        max(noted_on) AS last_noted_on,
        CASE WHEN amount_now IS NULL THEN 'taken back' ELSE 'changed' END AS remark,
        1 AS place
    FROM changes
    WHERE is_changed
    GROUP BY office_id, user_id, month, measure
    UNION ALL BY NAME
    SELECT
        office_id,
        measure,
        sum(amount_after) AS amount_now,
        count(*) AS change_count,
        noted_on AS last_noted_on,
        'entered, of ' || strftime(min(month), '%Y-%m') || ' to ' || strftime(max(month), '%Y-%m') AS remark,
        2 AS place
    FROM changes
    WHERE NOT is_changed
    GROUP BY office_id, measure, noted_on
    UNION ALL BY NAME
    SELECT
        CASE
            WHEN NOT EXISTS (FROM marts.budgets)
                THEN 'no budgets could be read: FROM meta.conditions WHERE report LIKE ''%budget%'''
            WHEN count(*) = 0 THEN 'there are no budgets of this year or office'
            ELSE 'none of ' || count(*) || ' budgets was changed since they were first read on '
                || min(valid_from_utc)::DATE
        END AS remark
    FROM marts.budgets
    WHERE year(month) = coalesce(getvariable('year'), year(month))
        AND office_id = coalesce(getvariable('office'), office_id)
    HAVING NOT EXISTS (FROM changes)
)

SELECT
    offices.office_name,
    users.user_label AS agent,
    told.month,
    told.measure,
    told.remark,
    told.first_amount,
    told.amount_now,
    told.change_count,
    told.last_noted_on,
    told.office_id,
    told.user_id
FROM told
LEFT JOIN marts.offices AS offices USING (office_id)
LEFT JOIN marts.users AS users USING (user_id)
ORDER BY told.place, told.last_noted_on DESC, offices.office_name, agent, told.month, told.measure, told.user_id;
