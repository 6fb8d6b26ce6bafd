-- How does the current month compare with the same days of last year?
-- One row per page with a sale in these days of either year (marts.same_days). offices_behind are the offices whose
-- sales are known only up to an earlier day, their_days those days. Declared VAT is deducted.
WITH offices_earlier AS (
    SELECT
        levels.level,
        coalesce(levels.member_id, '') AS scope,
        list(offices.member_name ORDER BY offices.member_name) AS names,
        list(offices.until_on ORDER BY offices.member_name) AS days_until
    FROM marts.same_days AS days
    INNER JOIN marts.office_levels AS levels
        ON levels.level = days.level AND levels.member_id IS NOT DISTINCT FROM days.member_id
    INNER JOIN marts.same_days AS offices ON offices.level = 'office' AND offices.member_id = levels.office_id
    WHERE days.period = 'month' AND offices.period = 'month' AND offices.until_on < days.until_on
    GROUP BY ALL
)

SELECT
    days.level AS kind,
    coalesce(days.member_id, '') AS scope,
    days.until_on,
    coalesce(earlier.names, []) AS offices_behind,
    coalesce(earlier.days_until, []) AS their_days,
    days.missing_offices,
    without_vat(days.sold_commission, basis)::DECIMAL(18, 4) AS commission,
    without_vat(days.sold_commission_before, basis)::DECIMAL(18, 4) AS commission_before
FROM marts.same_days AS days
LEFT JOIN offices_earlier AS earlier ON earlier.level = days.level AND earlier.scope = coalesce(days.member_id, '')
LEFT JOIN meta.tax_basis AS basis ON true
WHERE days.period = 'month'
    AND days.level <> 'user'
    AND (days.level = 'chain' OR days.member_id IS NOT NULL)
    AND (days.sold_commission <> 0 OR days.sold_commission_before <> 0)
    AND days.sold_commission + days.sold_commission_before IS NOT NULL
ORDER BY kind, scope
