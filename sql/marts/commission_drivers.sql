-- Did commission from sales change because of the number of homes, their prices or the fee?
-- One row per level, member (office, brand, region or chain), period and month that is over. The period is compared
-- with the same months a year before.
-- Commission from sales is homes x average price x fee. The fee is commission in percent of the price.
-- The effect of each factor is its logarithmic change times the logarithmic mean of both commissions (LMDI, additive).
-- These three effects cover only the offices that marts.growth compares.
-- The rest of the difference is offices_effect, so the four effects add up exactly.
-- All effects are null if a factor or the difference is unknown, or if a factor is zero or negative.
-- The effects of a brand's offices need not add up to the brand's. If homes move to offices with other prices, the
-- brand has a price effect that no office has.
-- A closed office has no row of its own after its last month.
-- Example: an office sold 12 homes after 10 the year before, at the same average price and fee. The whole difference
-- is homes_effect; the other effects are 0.
-- Key: level, member_id, period, month
-- Columns:
--   level: office, brand, region or chain; never add up two levels
--   member_id: customer id of the office, or the brand or region. Null in two cases: for the chain; for an unknown
--     brand or region
--   member_name: name of the office, brand or region
--   period: month, or year to date: from January to the month
--   month: first day of the last month of the period
--   sold_commission: commission from sales alone, by share; currency not documented, tax basis as declared in
--     marts.tax_basis
--   sold_commission_before: commission from sales alone in the period a year before; currency and tax basis
--     as for sold_commission
--   sold_estate_parts: homes sold
--   sold_estate_parts_before: homes sold in the period a year before
--   average_price: average price of a home sold; currency not documented
--   average_price_before: average price of a home sold in the period a year before; currency not documented
--   sold_commission_percentage: the fee: commission from sales in percent of their prices
--   sold_commission_percentage_before: the fee in the period a year before: commission from sales in percent of their
--     prices
--   difference: sold_commission less sold_commission_before
--   homes_effect: the part of the difference that comes from more or fewer homes, in the currency of sold_commission
--   price_effect: the part of the difference that comes from higher or lower prices
--   fee_effect: the part of the difference that comes from a higher or lower fee
--   offices_effect: the part of the difference that comes from offices that marts.growth does not compare, because they
--     opened or closed
--   missing_offices: names of the offices with a month of either period that is not loaded to its end or was not
--     requested; null if there is none
WITH months AS (
    SELECT
        coverage.office_id,
        coalesce(coverage.office_name, coverage.office_id) AS office_name,
        coverage.month,
        min(coverage.month) OVER (PARTITION BY coverage.office_id) AS first_month,
        coverage.is_commission_held AND NOT office_months.is_open AS is_known,
        office_months.sold_commission,
        office_months.sold_total_price,
        office_months.sold_estate_parts
    FROM marts.office_coverage AS coverage
    LEFT JOIN marts.office_month AS office_months ON office_months.office_id = coverage.office_id AND office_months.month = coverage.month
),

periods AS (
    SELECT
        month,
        unnest([
            {'period': 'month', 'first_month': month},
            {'period': 'year to date', 'first_month': date_trunc('year', month)::DATE}
        ], recursive := true)
    FROM (SELECT DISTINCT month FROM months WHERE is_known)
),

offices_summed AS (
    SELECT
        periods.period, periods.month, years.years_ago, months.office_id, months.office_name,
        bool_and(coalesce(months.is_known, false))
        AND min(months.first_month) <= min(periods.first_month - to_years(years.years_ago)) AS is_known,
        sum(months.sold_commission) AS sold_commission,
        sum(months.sold_total_price) AS sold_total_price,
        sum(months.sold_estate_parts) AS sold_estate_parts
    FROM periods
    CROSS JOIN (SELECT unnest([0, 1]) AS years_ago) AS years
    INNER JOIN months
        ON months.month BETWEEN periods.first_month - to_years(years.years_ago) AND periods.month - to_years(years.years_ago)
    GROUP BY periods.period, periods.month, years.years_ago, months.office_id, months.office_name
),

offices_paired AS (
    SELECT
        period,
        month,
        office_id,
        office_name,
        levels.level,
        levels.member_id,
        levels.member_name,
        coalesce(list_contains(string_split(growth.compared_offices, ', '), office_id), false) AS is_compared,
        this.office_id IS NOT NULL AS is_here,
        coalesce(this.is_known, true) AS is_known,
        coalesce(before.is_known, false) AS was_known,
        this.sold_commission,
        this.sold_total_price,
        this.sold_estate_parts,
        before.sold_commission AS sold_commission_before,
        before.sold_total_price AS sold_total_price_before,
        before.sold_estate_parts AS sold_estate_parts_before
    FROM (FROM offices_summed WHERE years_ago = 0) AS this
    FULL JOIN (FROM offices_summed WHERE years_ago = 1) AS before USING (period, month, office_id, office_name)
    INNER JOIN marts.office_levels AS levels USING (office_id)
    LEFT JOIN marts.growth AS growth
        ON (growth.level, growth.period, growth.month) = (levels.level, period, month)
        AND growth.member_id IS NOT DISTINCT FROM levels.member_id
),

summed AS (
    SELECT
        level, member_id, member_name, period, month,
        string_agg(paired.office_name, ', ' ORDER BY paired.office_name)
            FILTER (NOT (paired.is_known AND paired.was_known)) AS missing_offices,
        CASE WHEN bool_and(paired.is_known) THEN sum(paired.sold_commission) END AS sold_commission,
        CASE WHEN bool_and(paired.is_known) THEN sum(paired.sold_total_price) END AS sold_total_price,
        CASE WHEN bool_and(paired.is_known) THEN sum(paired.sold_estate_parts) END AS sold_estate_parts,
        CASE WHEN bool_and(paired.was_known) THEN sum(paired.sold_commission_before) END AS sold_commission_before,
        CASE WHEN bool_and(paired.was_known) THEN sum(paired.sold_total_price_before) END AS sold_total_price_before,
        CASE WHEN bool_and(paired.was_known) THEN sum(paired.sold_estate_parts_before) END AS sold_estate_parts_before,
        sum(paired.sold_commission) FILTER (is_compared) AS commission,
        sum(paired.sold_commission_before) FILTER (is_compared) AS commission_before,
        sum(paired.sold_estate_parts) FILTER (is_compared) AS homes,
        sum(paired.sold_estate_parts_before) FILTER (is_compared) AS homes_before,
        sum(paired.sold_total_price) FILTER (is_compared) / nullif(homes, 0) AS price,
        sum(paired.sold_total_price_before) FILTER (is_compared) / nullif(homes_before, 0) AS price_before
    FROM offices_paired AS paired
    GROUP BY ALL
    HAVING bool_or(paired.is_here)
),

factored AS (
    SELECT
        *,
        (sold_commission - sold_commission_before)::DECIMAL(18, 4) AS difference,
        difference IS NOT NULL
        AND homes > 0 AND homes_before > 0 AND price > 0 AND price_before > 0 AND commission > 0 AND commission_before > 0
            AS is_known,
        CASE
            WHEN NOT is_known THEN NULL
            WHEN commission = commission_before THEN commission
            WHEN is_known THEN (commission - commission_before) / ln(commission / commission_before)
        END AS mean_commission
    FROM summed
)

SELECT
    level,
    member_id,
    member_name,
    period,
    month,
    sold_commission::DECIMAL(18, 4) AS sold_commission,
    sold_commission_before::DECIMAL(18, 4) AS sold_commission_before,
    sold_estate_parts::DECIMAL(19, 8) AS sold_estate_parts,
    sold_estate_parts_before::DECIMAL(19, 8) AS sold_estate_parts_before,
    (sold_total_price / nullif(sold_estate_parts, 0))::DECIMAL(18, 4) AS average_price,
    (sold_total_price_before / nullif(sold_estate_parts_before, 0))::DECIMAL(18, 4) AS average_price_before,
    (100 * sold_commission / nullif(sold_total_price, 0))::DECIMAL(19, 8) AS sold_commission_percentage,
    (100 * sold_commission_before / nullif(sold_total_price_before, 0))::DECIMAL(19, 8)
        AS sold_commission_percentage_before,
    difference,
    (CASE WHEN is_known THEN mean_commission * ln(homes / homes_before) END)::DECIMAL(18, 4) AS homes_effect,
    (CASE WHEN is_known THEN mean_commission * ln(price / price_before) END)::DECIMAL(18, 4) AS price_effect,
    (commission - commission_before - homes_effect - price_effect)::DECIMAL(18, 4) AS fee_effect,
    (difference - homes_effect - price_effect - fee_effect)::DECIMAL(18, 4) AS offices_effect,
    missing_offices
FROM factored
ANTI JOIN marts.dim_office AS closed
    ON factored.level = 'office' AND closed.office_id = factored.member_id AND closed.closed_after_month < factored.month
ORDER BY level, member_id, period, month
