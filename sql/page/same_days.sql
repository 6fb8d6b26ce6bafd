-- How far is the month that runs, beside the same days of last year?
-- One row per page, over the offices whose sales are read in the month that runs and were read to the end of the same month of
-- last year: their sales by day of contract, each to the day before its own reading, with those that were read before the last of
-- these days. Sales count at the offices of their agents by their shares; nothing else that is earned has a day. Declared VAT is
-- taken off.
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
    WHERE sources.report = 'sales' AND NOT (sources.lacks_rows OR (sources.is_cut_short AND sources.month < running.month))
    GROUP BY ALL
    HAVING count(DISTINCT sources.month) = 2
),

sold AS (
    SELECT
        offices.office_id,
        sum(coalesce(shares.commission, sales.commission)) FILTER (sales.month = offices.month) AS commission,
        sum(coalesce(shares.commission, sales.commission)) FILTER (sales.month < offices.month) AS commission_before
    FROM marts.sales AS sales
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
    GROUP BY offices.office_id
),

of_pages AS (
    SELECT
        levels.level AS kind,
        coalesce(levels.member_id, '') AS scope,
        coalesce(names.office_name, office_id) AS office_name,
        offices.read_on,
        offices.read_on < max(offices.read_on) OVER (PARTITION BY levels.level, levels.member_id) AS is_earlier,
        sold.office_id IS NOT NULL AS has_sold,
        sold.commission,
        sold.commission_before
    FROM offices_read AS offices
    INNER JOIN marts.office_levels AS levels USING (office_id)
    LEFT JOIN marts.offices AS names USING (office_id)
    LEFT JOIN sold USING (office_id)
    WHERE levels.level = 'chain' OR levels.member_id IS NOT NULL
)

SELECT
    kind,
    scope,
    max(read_on) AS until_on,
    coalesce(list(office_name ORDER BY office_name) FILTER (is_earlier), []) AS earlier_offices,
    coalesce(list(read_on ORDER BY office_name) FILTER (is_earlier), []) AS earlier_days,
    without_vat(coalesce(sum(commission), 0), any_value(basis))::DECIMAL(18, 4) AS commission,
    without_vat(coalesce(sum(commission_before), 0), any_value(basis))::DECIMAL(18, 4) AS commission_before
FROM of_pages
LEFT JOIN meta.tax_basis AS basis ON true
GROUP BY kind, scope
HAVING bool_or(has_sold)
ORDER BY kind, scope
