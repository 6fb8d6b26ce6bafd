-- What did offices, brands, regions and the whole chain earn and do, month by month?
-- One row per level, member (office, brand, region or chain) and month that is loaded for any office, with sums over
-- the member's offices. A row of level brand or region without member_id covers offices whose brand or region is
-- unknown.
-- Amounts are those of the offices that are loaded. If is_complete is false, missing_offices names reports that are
-- missing or cover only a part of the month, and the true numbers may be higher.
-- A number is null if it is known for no office.
-- Read one level, and never add up two: marts.chain_month, brand_month and region_month have one level each.
-- Key: level, member_id, month
-- Columns:
--   level: office, brand, region or chain; never add up two levels
--   member_id: customer id of the office, or the brand or region. Null in two cases: for the chain; for an unknown
--     brand or region
--   month: first day of the month
--   commission: commission from sales, valuations and writing assignments together, by share; currency not documented,
--     tax basis as declared in marts.tax_basis
--   sold_commission: commission from sales alone, by share, with an error of at most half an öre per home
--   sold_total_price: prices of what was sold, by share
--   sold_estate_parts: homes sold; a home shared with an agent outside the chain counts in parts
--   sold_average_commission: average commission of a sale, computed from sums; currency and tax basis as for
--     commission; null without a sale; never average it or add it up: compute sum(sold_commission) /
--     sum(sold_estate_parts)
--   average_price: average price of a home sold, computed from sums; currency not documented; null without a
--     sale; never average it or add it up: compute sum(sold_total_price) / sum(sold_estate_parts)
--   sold_commission_percentage: commission from sales in percent of the prices, computed from sums; null without a sale
--   writing_parts: writing assignments (contract only), in parts if shared
--   valuation_parts: valuations, in parts if shared
--   running_commission_sek_excl_vat: commissions earned in steps, without VAT, in SEK; never add it to
--     commission: it is not documented whether one contains the other
--   incoming_lead_count: leads received
--   outgoing_lead_count: leads sent out
--   tip_count: tips sent by colleagues
--   active_agent_count: active agents, each once, of the offices whose number is in marts.office_month; null if no
--     office has one. Agents without a known office are only in marts.headcount_month
--   commission_per_active_agent: commission per active agent, computed from sums over the offices with a known
--     commission and a known number of active agents; null without an active agent
--   office_count: offices that are completely loaded, to the end of the month or to now while it is open
--   expected_office_count: offices that should be loaded, see marts.office_coverage
--   missing_offices: names of offices with a missing or incomplete report, each with the name of the report; null if
--     nothing is missing
--   is_commission_complete: whether the office report is loaded for all expected offices, to the end of the month or to
--     now while it is open, and lacks neither an office's row nor its amount
--   is_complete: whether all expected offices are completely loaded
--   is_refreshed: whether each loaded report of the month is still requested, or was last read at least a year after
--     the month began, when it hardly changes any more. False if one of the reports could have changed since
--   is_open: whether the month is not over, or its end has not been requested yet
--   is_last_over: whether the month is the newest one that is over for every office, or the newest of all if none is
--     over
WITH summed AS (
    SELECT
        levels.level,
        levels.member_id,
        levels.month,
        sum(months.commission)::DECIMAL(18, 4) AS commission,
        sum(months.sold_commission)::DECIMAL(18, 4) AS sold_commission,
        sum(months.sold_total_price)::DECIMAL(18, 4) AS sold_total_price,
        sum(months.sold_estate_parts)::DECIMAL(19, 8) AS sold_estate_parts,
        (sum(months.sold_commission) / nullif(sum(months.sold_estate_parts), 0))::DECIMAL(18, 4) AS sold_average_commission,
        (sum(months.sold_total_price) / nullif(sum(months.sold_estate_parts), 0))::DECIMAL(18, 4) AS average_price,
        (100 * sum(months.sold_commission) / nullif(sum(months.sold_total_price), 0))::DECIMAL(19, 8)
            AS sold_commission_percentage,
        sum(months.writing_parts)::DECIMAL(19, 8) AS writing_parts,
        sum(months.valuation_parts)::DECIMAL(19, 8) AS valuation_parts,
        sum(months.running_commission_sek_excl_vat)::DECIMAL(18, 4) AS running_commission_sek_excl_vat,
        sum(months.incoming_lead_count)::BIGINT AS incoming_lead_count,
        sum(months.outgoing_lead_count)::BIGINT AS outgoing_lead_count,
        sum(months.tip_count)::BIGINT AS tip_count,
        sum(levels.additive_agent_count)::BIGINT AS active_agent_count,
        per_active_agent(months.commission, levels.additive_agent_count)::DECIMAL(18, 4) AS commission_per_active_agent,
        count(*) FILTER (coverage.is_held) AS office_count,
        count(*) AS expected_office_count,
        string_agg(
            coalesce(coverage.office_name, coverage.office_id) || ' (' || coverage.missing_reports || ')', '; '
            ORDER BY coverage.office_name, coverage.office_id
        ) AS missing_offices,
        bool_and(coverage.is_commission_held) AS is_commission_complete,
        bool_and(coverage.is_held) AS is_complete,
        coalesce(bool_and(coverage.is_refreshed), true) AS is_refreshed,
        coalesce(bool_or(months.is_open), false) AS is_open
    FROM marts.level_office_month AS levels
    INNER JOIN marts.office_coverage AS coverage USING (office_id, month)
    LEFT JOIN marts.office_month AS months USING (office_id, month)
    GROUP BY levels.level, levels.member_id, levels.month
)

SELECT
    *,
    month = coalesce(max(month) FILTER (level = 'chain' AND NOT is_open) OVER (), max(month) OVER ()) AS is_last_over
FROM summed
ORDER BY level, month, member_id
