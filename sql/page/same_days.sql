-- How far is the month that runs, beside the same days of last year?
-- One row per page, over the offices whose sales are read in the month that runs and were read to the end of the same month of
-- last year: their sales by day of contract, each to the day before its own reading: from the earliest of these days to the latest. Sales count at the offices of their agents by
-- their shares; nothing else that is earned has a day. Declared VAT is taken off.
WITH running AS (
    SELECT max(month) AS month FROM marts.office_month WHERE is_open AND commission IS NOT NULL
),

offices_read AS (
    SELECT
        sources.office_id,
        running.month,
        any_value(same_days_until(sources.fetched_at_utc, clock)) FILTER (sources.month = running.month) AS read_on
    FROM marts.office_sources AS sources
    INNER JOIN running ON sources.month IN (running.month, running.month - INTERVAL 1 YEAR)
    LEFT JOIN meta.clock AS clock ON true
    WHERE sources.report = 'sales' AND (sources.month = running.month OR NOT sources.is_cut_short)
    GROUP BY ALL
    HAVING count(DISTINCT sources.month) = 2
),

sold AS (
    SELECT
        offices.office_id,
        sales.month = offices.month AS is_now,
        coalesce(shares.commission_share, 1) AS homes,
        without_vat(coalesce(shares.commission, sales.commission), basis) AS commission
    FROM marts.sales AS sales
    LEFT JOIN meta.tax_basis AS basis ON true
    LEFT JOIN marts.sale_shares AS shares ON shares.estate_id = sales.estate_id
    INNER JOIN offices_read AS offices
        ON offices.office_id = coalesce(shares.user_office_id, sales.office_id)
        AND (
            (sales.month = offices.month AND sales.contract_on <= offices.read_on)
            OR (
                sales.month = offices.month - INTERVAL 1 YEAR
                AND sales.contract_on <= offices.read_on - INTERVAL 1 YEAR
            )
        )
)

SELECT
    levels.level AS kind,
    coalesce(levels.member_id, '') AS scope,
    min(offices.read_on) AS from_on,
    max(offices.read_on) AS until_on,
    count(DISTINCT offices.office_id) AS offices,
    coalesce(sum(sold.homes) FILTER (sold.is_now), 0)::DECIMAL(19, 8) AS homes,
    coalesce(sum(sold.homes) FILTER (NOT sold.is_now), 0)::DECIMAL(19, 8) AS homes_before,
    coalesce(sum(sold.commission) FILTER (sold.is_now), 0)::DECIMAL(18, 4) AS commission,
    coalesce(sum(sold.commission) FILTER (NOT sold.is_now), 0)::DECIMAL(18, 4) AS commission_before
FROM offices_read AS offices
INNER JOIN marts.office_levels AS levels USING (office_id)
LEFT JOIN sold USING (office_id)
WHERE levels.level = 'chain' OR levels.member_id IS NOT NULL
GROUP BY levels.level, levels.member_id
HAVING count(sold.office_id) > 0
ORDER BY levels.level, scope
