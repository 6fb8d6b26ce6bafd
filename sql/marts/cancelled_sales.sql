-- Which sales have disappeared from the sales report, whose were they, and when was that noticed?
-- One row per estate that an earlier reading of its month listed, and that no month lists now.
-- A sale that disappeared was usually cancelled, but the service gives no reason. A sale whose row is in quarantine
-- disappears too.
-- A sale that moved to another month or office, or came back, is not here.
-- If the month was over, marts.month_change_reasons has the effect on the office and its agents.
-- Key: estate_id
-- Columns:
--   noted_at_utc: time of the newest answer in the file when the sale was found to be gone
--   noted_on: the day of noted_at_utc, in the chain's time zone
--   known_since_on: day on which sales of the office were first read; sales that disappeared before are not known
--   estate_id: id of the estate
--   street_address: street address of the estate, as last read; null for a sale that was gone before addresses were stored
--   agents: names of the users who shared the commission, the responsible one first, as last read; null for a sale
--     that was gone before agents were stored
--   office_id: customer id of the listing office
--   office_name: name of the listing office
--   month: first day of the month that had the sale
--   contract_on: day of the contract of the sale
--   is_restatement: whether the month was over at the previous reading, so that the total of a closed month fell
--   is_in_totals: whether the loss of the sale is in the totals of the office report, because that report was read in
--     the same run as the loss, or later. If false, the totals may still include the sale
--   commission: whole commission, all agents together; currency not documented, tax basis as declared in marts.tax_basis
--   final_price: sale price; currency not documented
--   load_id_before: the last load that listed the sale; joins meta.loads
--   _customer: the customer whose answer shows that the sale is gone
--   _month: first day of the month of that answer
--   _load_id: the load of that answer; joins meta.loads
WITH states AS (
    SELECT
        *,
        lead(is_present) OVER of_sale AS is_present_next,
        lead(valid_from_utc) OVER of_sale AS gone_at_utc,
        version = max(version) OVER (PARTITION BY estate_id) - 1 AS is_last_but_one,
        min(valid_from_utc) OVER (PARTITION BY office_id) AS known_since_utc
    FROM marts.sale_versions
    WINDOW of_sale AS (PARTITION BY estate_id ORDER BY version)
),

gone_sales AS (
    SELECT * FROM states WHERE is_last_but_one AND NOT is_present_next
),

totals_read AS (
    SELECT
        sources.office_id,
        sources.month,
        max(readings.read_at_utc) AS read_at_utc
    FROM marts.office_sources AS sources
    INNER JOIN staging.readings AS readings USING (report, customer_id, month)
    WHERE sources.report = 'commission_office'
    GROUP BY ALL
),

agents_named AS (
    SELECT
        agents.estate_id,
        string_agg(coalesce(users.user_name, agents.user_id), ', ' ORDER BY agents.place) AS agents
    FROM (
        SELECT estate_id, unnest(agent_ids) AS user_id, generate_subscripts(agent_ids, 1) AS place FROM gone_sales
    ) AS agents
    LEFT JOIN marts.users AS users USING (user_id)
    GROUP BY ALL
)

SELECT
    changes.noted_at_utc,
    local_day(changes.noted_at_utc) AS noted_on,
    local_day(gone_sales.known_since_utc) AS known_since_on,
    gone_sales.estate_id,
    gone_sales.estate_number,
    gone_sales.street_address,
    agents_named.agents,
    changes.office_id,
    changes.office_name,
    changes.month,
    gone_sales.contract_on,
    changes.is_restatement,
    coalesce(totals_read.read_at_utc >= readings.read_at_utc, false) AS is_in_totals,
    changes.commission_before AS commission,
    changes.price_before AS final_price,
    changes.load_id_before,
    changes._customer,
    changes._month,
    changes._load_id
FROM gone_sales
INNER JOIN marts.sale_changes AS changes
    ON changes.estate_id = gone_sales.estate_id AND changes.noted_at_utc = gone_sales.gone_at_utc AND changes.change = 'vanished'
LEFT JOIN totals_read ON totals_read.office_id = changes.office_id AND totals_read.month = changes.month
LEFT JOIN staging.readings AS readings ON readings.load_id = changes._load_id AND readings.month = changes._month
LEFT JOIN agents_named ON agents_named.estate_id = gone_sales.estate_id
ORDER BY changes.noted_at_utc, changes.office_id, gone_sales.estate_id
