-- How does the current month compare with the same days of last year, like for like?
-- One row per page with commission from sales in these days of last year, and one per page and office. It covers the page's offices in
-- marts.same_days, except those that began since last year or have closed. A page has no row if the commission of one
-- of these offices is not known, or if the days are fewer than seven. offices_behind are the offices whose days end
-- before until_on. Declared VAT is deducted.
WITH page_offices AS (
    SELECT
        levels.level AS kind,
        coalesce(levels.member_id, '') AS scope,
        days.*,
        max(days.until_on) OVER (PARTITION BY levels.level, levels.member_id) AS latest_on,
        pages.missing_offices AS not_compared
    FROM marts.same_days AS days
    INNER JOIN marts.office_levels AS levels ON levels.office_id = days.member_id
    INNER JOIN marts.same_days AS pages
        ON (pages.level, pages.period) = (levels.level, days.period) AND pages.member_id IS NOT DISTINCT FROM levels.member_id
    LEFT JOIN marts.dim_office AS offices ON offices.office_id = days.member_id
    WHERE days.level = 'office' AND days.period = 'month' AND (levels.level = 'chain' OR levels.member_id IS NOT NULL)
        AND offices.closed_after_month IS NULL
        AND NOT coalesce(offices.began_month > days.first_on - INTERVAL 1 YEAR, false)
)

SELECT
    kind, scope,
    latest_on AS until_on,
    coalesce(list(member_name ORDER BY member_name) FILTER (until_on < latest_on), []) AS offices_behind,
    coalesce(list(until_on ORDER BY member_name) FILTER (until_on < latest_on), []) AS their_days,
    any_value(not_compared) AS missing_offices,
    without_vat(sum_if_known(sold_commission), any_value(basis))::DECIMAL(18, 4) AS commission,
    without_vat(sum_if_known(sold_commission_before), any_value(basis))::DECIMAL(18, 4) AS commission_before,
    member_id AS office_id
FROM page_offices
LEFT JOIN meta.tax_basis AS basis ON true
GROUP BY GROUPING SETS ((kind, scope, latest_on), (kind, scope, latest_on, member_id))
HAVING commission IS NOT NULL AND commission_before <> 0 AND day(latest_on) >= 7
ORDER BY kind, scope, office_id
