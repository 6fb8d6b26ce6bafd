-- Of the homes whose sellers got in touch in a quarter, how many were sold after 3, 6 and 12 months?
-- One row per quarter of sellers' leads that name an estate; only those can be matched to a sale.
--
-- A column is null while the youngest lead of the quarter has not had that time yet: later quarters are not worse, only
-- younger. A home counts once, with its first lead; removed leads are left out.
-- Parameters: year, office
WITH leads AS (
    SELECT date_trunc('quarter', month)::DATE AS quarter, days_to_contract
    FROM marts.leads
    WHERE way = 'incoming lead'
        AND lead_side = 'seller'
        AND estate_id IS NOT NULL
        AND is_first_of_home
        AND year(month) = coalesce(getvariable('year'), year(month))
        AND coalesce(office_id, '') = coalesce(getvariable('office'), office_id, '')
),

counted AS (
    SELECT
        quarter,
        count(*) AS homes,
        count(*) FILTER (days_to_contract <= 91) AS after_3_months,
        count(*) FILTER (days_to_contract <= 183) AS after_6_months,
        count(*) FILTER (days_to_contract <= 365) AS after_12_months,
        date_diff('day', (quarter + INTERVAL 3 MONTH)::DATE, (SELECT max(contract_on) FROM marts.sales)) AS age
    FROM leads
    GROUP BY ALL
)

SELECT
    quarter,
    homes,
    CASE WHEN age >= 91 THEN round(100 * after_3_months / homes, 1) END AS percent_sold_after_3_months,
    CASE WHEN age >= 183 THEN round(100 * after_6_months / homes, 1) END AS percent_sold_after_6_months,
    CASE WHEN age >= 365 THEN round(100 * after_12_months / homes, 1) END AS percent_sold_after_12_months
FROM counted
ORDER BY quarter;
