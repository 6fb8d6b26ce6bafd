-- Which homes were sold, when, for how much and by whom?
-- One row per estate in the sales report. Valuations and writing assignments are no sales and are left out.
-- If a contract moved to another month, and its first month was not requested again, bi has two rows of the estate.
-- The one that the service changed last counts, and a check names the estate.
-- For each: FROM parts_of((SELECT count(*) FROM staging.sales_estates))
-- Key: estate_id
-- Columns:
--   commission_foreign: whole commission in the foreign currency; foreign properties only
--   office_id: customer id of the listing office, under which the service reports the home. If several offices list
--     the home, it is the one whose row the service changed last. Of equally new rows, the responsible agent's own
--     office counts, else the one with the lowest id. An agent's share counts at the agent's own office, see
--     marts.sale_shares
--   office_name: name of the listing office
--   month: first day of the month of the contract
--   estate_id: id of the estate
--   status: state of the sale, as the service words it
--   changed_at: when the estate was last changed at the service, in local time
--   final_price: sale price; currency not documented
--   commission: whole commission, all agents together, at the listing office, which need not have earned it. What each
--     office earned is in marts.sale_shares (user_office_id). Currency not documented, tax basis as declared in
--     marts.tax_basis
--   commission_percentage: commission in percent of the sale price
--   price_change: sale price less asking price, in their currency
--   listed_on: day on which the home was first advertised; null if the list of sold estates does not state it
--   days_from_listing_to_contract: days from listed_on to contract_on. Null in two cases: if one of the days is not
--     known; if the home was advertised after the contract
--   agent_count: users who share the commission
--   responsible_user_id: id of the responsible agent
--   responsible_user_name: name of the responsible agent; two agents may have the same name: group by
--     responsible_user_id
--   agents: names of all agents, the responsible one first, the others by name
--   agent_commission: sum of the agents' shares, in SEK
--   agent_share: sum of the agents' parts of the commission; 1 when nothing is missing
--   is_shared_between_offices: whether agents of more than one office share the commission
--   restatement_count: how often price or commission changed after the sale, by the changes that the service lists
--   first_commission: commission as first noted with a sale price; currency and tax basis as for commission
--   first_final_price: sale price as first noted; currency as for final_price
--   last_restated_at: when price or commission were last changed after the sale, in local time
--   _customer: the customer whose answer the row comes from
--   _month: first day of the month of the answer of _customer
--   _load_id: load of the answer of _customer; joins meta.loads
--   _row: row of bi.sales_estates
WITH chosen_estates AS NOT MATERIALIZED (
    SELECT * EXCLUDE (is_sale)
    FROM staging.sales_estates
    SEMI JOIN (FROM marts.office_sources WHERE report = 'sales') USING (office_id, month, customer_id)
    WHERE is_of_part(estate_id) AND is_sale
),

repeated_estates AS (
    SELECT
        chosen_estates.estate_id,
        first(chosen_estates.landed_row ORDER BY
            chosen_estates.changed_at DESC NULLS LAST,
            responsible.user_office_id IS NOT DISTINCT FROM chosen_estates.office_id DESC,
            chosen_estates.office_id,
            chosen_estates.landed_row DESC
        ) AS landed_row
    FROM chosen_estates
    SEMI JOIN (FROM chosen_estates SELECT estate_id GROUP BY ALL HAVING count(*) > 1) AS repeats USING (estate_id)
    LEFT JOIN staging.sales_agents AS responsible
        ON responsible.landed_estate = chosen_estates.landed_row AND responsible.is_responsible
    GROUP BY ALL
),

latest AS (
    SELECT chosen_estates.*
    FROM chosen_estates
    LEFT JOIN repeated_estates USING (estate_id)
    WHERE repeated_estates.landed_row IS NULL OR repeated_estates.landed_row = chosen_estates.landed_row
),

agents_gathered AS (
    SELECT
        landed_estate,
        count(*) AS agent_count,
        min(user_id) FILTER (is_responsible) AS responsible_user_id,
        arg_min(user_name, user_id) FILTER (is_responsible) AS responsible_user_name,
        concat_ws(
            ', ',
            arg_min(user_name, user_id) FILTER (is_responsible),
            array_to_string(list_sort(list(user_name) FILTER (NOT coalesce(is_responsible, false))), ', ')
        ) AS agents,
        sum(commission)::DECIMAL(18, 4) AS agent_commission,
        sum(commission_share)::DECIMAL(19, 8) AS agent_share,
        min(counted_office_id) <> max(counted_office_id) AS is_shared_between_offices
    FROM staging.placed_agents
    SEMI JOIN latest ON latest.landed_row = landed_estate
    GROUP BY ALL
),

changes_compared AS (
    SELECT
        landed_estate,
        changed_at,
        commission,
        final_price,
        row_number() OVER changes AS place,
        lag(commission) OVER changes IS DISTINCT FROM commission
            OR lag(final_price) OVER changes IS DISTINCT FROM final_price AS is_change
    FROM staging.sales_estate_changes
    SEMI JOIN latest ON latest.landed_row = landed_estate
    WHERE final_price IS NOT NULL
    WINDOW changes AS (PARTITION BY landed_estate ORDER BY changed_at, landed_row)
),

restatements_counted AS (
    SELECT
        landed_estate,
        count(*) FILTER (is_change AND place > 1) AS restatement_count,
        arg_min(commission, place) AS first_commission,
        arg_min(final_price, place) AS first_final_price,
        max(changed_at) FILTER (is_change AND place > 1) AS last_restated_at
    FROM changes_compared
    GROUP BY ALL
)

SELECT
    latest.estate_id,
    latest.estate_number,
    latest.month,
    latest.contract_on,
    latest.access_on,
    latest.office_id,
    offices.office_name,
    latest.status,
    latest.estate_type,
    latest.assignment,
    latest.intake_source,
    latest.street_address,
    latest.zip_code,
    latest.country_code,
    latest.latitude::DECIMAL(19, 8) AS latitude,
    latest.longitude::DECIMAL(19, 8) AS longitude,
    latest.is_new_home,
    latest.starting_price,
    latest.final_price,
    (latest.final_price - latest.starting_price)::DECIMAL(18, 4) AS price_change,
    latest.commission,
    (100 * latest.commission / nullif(latest.final_price, 0))::DECIMAL(19, 8) AS commission_percentage,
    latest.commission_text,
    latest.currency_code,
    latest.currency_exchange_rate::DECIMAL(19, 8) AS currency_exchange_rate,
    latest.starting_price_foreign,
    latest.final_price_foreign,
    latest.commission_foreign,
    sold_estates.advertised_on AS listed_on,
    CASE
        WHEN latest.contract_on >= sold_estates.advertised_on THEN latest.contract_on - sold_estates.advertised_on
    END AS days_from_listing_to_contract,
    latest.deposit_reported_on,
    latest.commission_received_on,
    coalesce(agents_gathered.agent_count, 0) AS agent_count,
    agents_gathered.responsible_user_id,
    agents_gathered.responsible_user_name,
    agents_gathered.agents,
    agents_gathered.agent_commission,
    agents_gathered.agent_share,
    coalesce(agents_gathered.is_shared_between_offices, false) AS is_shared_between_offices,
    coalesce(restatements_counted.restatement_count, 0) AS restatement_count,
    restatements_counted.first_commission,
    restatements_counted.first_final_price,
    restatements_counted.last_restated_at,
    latest.changed_at,
    latest.customer_id AS _customer,
    latest.month AS _month,
    latest.load_id AS _load_id,
    latest.landed_row AS _row
FROM latest
LEFT JOIN marts.offices AS offices USING (office_id)
LEFT JOIN staging.sold_estates AS sold_estates USING (estate_id)
LEFT JOIN agents_gathered ON agents_gathered.landed_estate = latest.landed_row
LEFT JOIN restatements_counted ON restatements_counted.landed_estate = latest.landed_row
ORDER BY year(latest.month), latest.office_id, latest.month, latest.contract_on, latest.landed_row
