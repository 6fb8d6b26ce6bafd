-- Whose budgets were entered, changed or taken back after their month was first read, by how much, and when?
-- One row per office, user, month and measure with changes in marts.budget_changes; without any, one row that says since when none
-- was changed.
--
-- first_amount is null where the budget was entered, amount_now where it was taken back. marts.budgets keeps every version;
-- marts.budget_as_of(TIMESTAMP '2026-03-01') shows what stood at a moment.
-- Parameters: year, office
WITH changed AS (
    SELECT
        office_id,
        user_id,
        month,
        measure,
        arg_min_null(amount_before, noted_at_utc) AS first_amount,
        arg_max_null(amount_after, noted_at_utc) AS amount_now,
        count(*) AS change_count,
        max(noted_at_utc) AS last_changed_utc,
        NULL::VARCHAR AS remark
    FROM marts.budget_changes
    WHERE year(month) = coalesce(getvariable('year'), year(month))
        AND office_id = coalesce(getvariable('office'), office_id)
    GROUP BY office_id, user_id, month, measure
)

SELECT
    offices.office_name,
    users.user_label AS agent,
    changed.* EXCLUDE (office_id, user_id),
    changed.office_id,
    changed.user_id
FROM changed
LEFT JOIN marts.offices AS offices USING (office_id)
LEFT JOIN marts.users AS users USING (user_id)
UNION ALL BY NAME
SELECT
    CASE
        WHEN NOT EXISTS (FROM marts.budgets)
            THEN 'no budgets could be read: FROM meta.assumptions WHERE state <> ''fits'''
        WHEN count(*) = 0 THEN 'there are no budgets of this year or office'
        ELSE 'none of ' || count(*) || ' budgets was changed since they were first read on '
            || min(valid_from_utc)::DATE
    END AS remark
FROM marts.budgets
WHERE year(month) = coalesce(getvariable('year'), year(month))
    AND office_id = coalesce(getvariable('office'), office_id)
HAVING NOT EXISTS (FROM changed)
ORDER BY last_changed_utc DESC, office_name, agent, month;
