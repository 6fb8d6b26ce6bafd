-- Do the changes of single sales add up to what their months were restated by?
-- One row per office, month and moment at which they do not, since sales have been remembered.
-- Severity: warning
-- Concerns: sales
WITH restated AS (
    SELECT
        noted_at_utc,
        office_id,
        month,
        sum(row_count_change) AS row_count_change,
        sum(commission_change) AS commission_change,
        sum(price_change) AS price_change
    FROM marts.restatements
    WHERE report = 'sales' AND noted_at_utc > (SELECT min(valid_from_utc) FROM marts.sale_versions)
    GROUP BY ALL
),

explained AS (
    SELECT
        noted_at_utc,
        office_id,
        month,
        sum(row_count_change) AS row_count_explained,
        sum(commission_change) AS commission_explained,
        sum(price_change) AS price_explained
    FROM marts.sale_changes
    WHERE is_restatement
    GROUP BY ALL
)

SELECT *
FROM restated
LEFT JOIN explained USING (noted_at_utc, office_id, month)
WHERE (row_count_change, commission_change, price_change)
    IS DISTINCT FROM (row_count_explained, commission_explained, price_explained)
