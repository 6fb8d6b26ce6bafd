-- Do the reasons of changes add up to what months have become since they were over?
-- One row per office, month and measure of which they do not: a change across an answer without that amount is not told.
-- Severity: warning
-- Concerns: nothing
WITH amounts AS (
    SELECT
        office_id,
        month,
        version,
        unnest([
            {'measure': 'commission', 'amount': commission},
            {'measure': 'sold_total_price', 'amount': price},
            {'measure': 'sold_estate_parts', 'amount': estate_parts}
        ], recursive := true)
    FROM marts.month_total_versions
    WHERE report = 'commission_office' AND NOT is_open
),

became AS (
    SELECT office_id, month, measure, arg_max(amount, version) - arg_min(amount, version) AS difference
    FROM amounts
    GROUP BY ALL
),

explained AS (
    SELECT office_id, month, measure, sum(amount) AS explained
    FROM marts.month_change_reasons
    GROUP BY ALL
)

SELECT office_id, month, measure, difference, coalesce(explained, 0) AS explained
FROM became
LEFT JOIN explained USING (office_id, month, measure)
WHERE difference <> coalesce(explained, 0)
