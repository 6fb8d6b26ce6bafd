-- Which commissions are signed but not received, and how long have they been due?
-- One row per sale of marts.sales.
-- A sale goes from contract (signed) through possession (due) to the day the commission was received. The service
-- states no agreed due date and no invoice.
-- outstanding_commission is the whole commission until a receipt is noted, because the service does not state whether
-- a receipt is of the whole commission.
-- Offices that never note a receipt look unpaid: leave them out by is_receipt_noted.
-- Changes since read_at_utc are not known. If the sales are no longer requested (is_refreshed is false), they stay as
-- they were last read and do not fall due.
-- Key: estate_id
-- Columns:
--   month: first day of the month of the contract
--   estate_id: id of the estate
--   office_id: customer id of the listing office
--   office_name: name of the office
--   agents: names of all agents, the responsible one first, the others by name
--   state: "received" if the commission has been received by counted_on; a later day of receipt does not count yet.
--     Otherwise "possession not known", "due" from the day after possession, or "signed" until then
--   commission: whole commission, all agents together, as the service states it; declared VAT is not deducted; currency
--     not documented, tax basis as declared in marts.tax_basis
--   outstanding_commission: commission while nothing is received; zero afterwards
--   due_commission: commission if state is due, else zero
--   age_band: how long the commission has been due: not yet due, 1-30 days, 31-60 days, over 60 days, or possession
--     not known; null once received
--   age_band_number: number of the band to sort by, 1 for the longest due; null once received
--   days_due: days from possession to counted_on; null unless due
--   days_from_contract_to_possession: days from contract_on to access_on; null if either is not known
--   days_from_possession_to_receipt: days from access_on to commission_received_on, negative if received before
--     possession. Null in two cases: until received; if access_on is not known
--   is_receipt_noted: whether the office has noted the receipt of any commission
--   counted_on: day of the newest sales answer for the row's customer, in the chain's time zone; the state is
--     as of this day
--   is_refreshed: whether the sales are still requested
--   read_at_utc: when the service gave the answer that this row comes from
--   _customer: the customer whose answer the row comes from
--   _month: first day of the month of the answer of _customer
--   _load_id: load of the answer of _customer; joins meta.loads
--   _row: row of bi.sales_estates
WITH answers AS (
    SELECT
        office_id,
        month,
        fetched_at_utc,
        is_refreshed,
        local_day(max(fetched_at_utc) OVER (PARTITION BY customer_id)) AS counted_on
    FROM marts.office_sources
    WHERE report = 'sales'
),

sales_with_states AS (
    SELECT
        sales.*,
        answers.counted_on,
        answers.is_refreshed,
        answers.fetched_at_utc AS read_at_utc,
        count(sales.commission_received_on) OVER (PARTITION BY sales.office_id) > 0 AS is_receipt_noted,
        CASE
            WHEN sales.commission_received_on <= answers.counted_on THEN 'received'
            WHEN sales.access_on IS NULL THEN 'possession not known'
            WHEN sales.access_on < answers.counted_on THEN 'due'
            ELSE 'signed'
        END AS state
    FROM marts.sales AS sales
    INNER JOIN answers ON answers.office_id = sales.office_id AND answers.month = sales.month
)

SELECT
    estate_id,
    estate_number,
    office_id,
    office_name,
    street_address,
    agents,
    month,
    contract_on,
    access_on,
    deposit_reported_on,
    commission_received_on,
    state,
    commission,
    (CASE WHEN state = 'received' THEN 0 ELSE commission END)::DECIMAL(18, 4) AS outstanding_commission,
    (CASE WHEN state = 'due' THEN commission ELSE 0 END)::DECIMAL(18, 4) AS due_commission,
    CASE WHEN state = 'due' THEN counted_on - access_on END AS days_due,
    CASE
        WHEN state = 'received' THEN NULL
        WHEN state = 'signed' THEN 'not yet due'
        WHEN state = 'possession not known' THEN state
        WHEN days_due <= 30 THEN '1-30 days'
        WHEN days_due <= 60 THEN '31-60 days'
        ELSE 'over 60 days'
    END AS age_band,
    nullif(
        list_position(['over 60 days', '31-60 days', '1-30 days', 'not yet due', 'possession not known'], age_band), 0
    ) AS age_band_number,
    access_on - contract_on AS days_from_contract_to_possession,
    CASE WHEN state = 'received' THEN commission_received_on - access_on END AS days_from_possession_to_receipt,
    is_receipt_noted,
    counted_on,
    is_refreshed,
    read_at_utc,
    _customer,
    _month,
    _load_id,
    _row
FROM sales_with_states
ORDER BY year(month), office_id, month, contract_on
