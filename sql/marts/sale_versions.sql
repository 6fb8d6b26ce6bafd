-- What was the state of each sale, at every reading?
-- One row per estate and state it had in marts.sales. The row without valid_to_utc is the current state.
-- A state is dated by the build of the marts that first found it: exact to the nightly run, not to the minute.
-- A new state begins when a sale appears or is gone, or when its office, month, day of contract, commission or price
-- changes. Address and agents are as last read.
-- A sale is gone when its month is loaded and marts.sales no longer has it, even if its row is in quarantine. A month
-- that is no longer loaded makes no sale gone.
-- For each: FROM parts_of((SELECT count(*) FROM marts.sales) + (SELECT count(*) FROM meta.sale_versions))
-- Key: estate_id, valid_from_utc
-- Columns:
--   is_present: whether the sale was listed; a state that is not listed has no amounts
--   office_id: customer id of the listing office
--   office_name: name of the office
--   month: first day of the month of the contract; of a sale that is gone, the month that had it
--   commission: whole commission, all agents together; currency not documented, tax basis as declared in
--     marts.tax_basis
--   final_price: sale price; currency not documented
--   was_over: whether the month was over at the previous reading, so that a change in it is a restatement; false if
--     there was no previous reading
--   left_was_over: for a sale that moved, was_over of the month and office that it left; null if it did not move
--   version: 1 for the oldest, 2 for the next
--   street_address: street address of the estate, as last read; null for a sale that was gone before addresses were
--     stored
--   agent_ids: ids of the users who share the commission, the responsible one first, as last read; null for a sale
--     that was gone before agents were stored
--   valid_from_utc: time of the newest answer in the file when the state was found
--   valid_to_utc: valid_from_utc of the next state; null for the current state
--   _customer: the customer whose answer showed the state
--   _month: first day of the month of the answer of _customer
--   _load_id: load of the answer of _customer; joins meta.loads
WITH latest AS (
    SELECT *
    FROM meta.sale_versions
    WHERE is_of_part(estate_id)
    QUALIFY version = max(version) OVER (PARTITION BY estate_id)
),

-- Until versions are stored, nothing can have changed: a first backfill is not a change.
months_read_before AS (
    SELECT office_id, month, NOT arg_max(is_open, version) AS was_over
    FROM meta.month_totals
    WHERE report = 'sales' AND EXISTS (FROM meta.sale_versions)
    GROUP BY ALL
),

loaded_months AS (
    SELECT office_id, month, customer_id, load_id
    FROM marts.office_sources
    WHERE report = 'sales'
),

changed_sales AS (
    SELECT
        now.estate_id,
        coalesce(latest.version, 0) + 1 AS version,
        true AS is_present,
        now.estate_number, now.office_id, now.month, now.contract_on, now.commission, now.final_price,
        coalesce(here.was_over, false) AS was_over,
        CASE
            WHEN latest.is_present AND (latest.office_id, latest.month) <> (now.office_id, now.month)
            THEN coalesce(there.was_over, false)
        END AS left_was_over,
        now._customer AS customer_id,
        now._load_id AS load_id
    FROM marts.sales AS now
    LEFT JOIN latest USING (estate_id)
    LEFT JOIN months_read_before AS here ON here.office_id = now.office_id AND here.month = now.month
    LEFT JOIN months_read_before AS there ON there.office_id = latest.office_id AND there.month = latest.month
    WHERE is_of_part(now.estate_id)
        AND now.estate_id IS NOT NULL
        AND (true, now.office_id, now.month, now.contract_on, now.commission, now.final_price)
        IS DISTINCT FROM (
            latest.is_present, latest.office_id, latest.month, latest.contract_on, latest.commission, latest.final_price
        )
),

gone_sales AS (
    SELECT
        latest.estate_id,
        latest.version + 1 AS version,
        false AS is_present,
        latest.estate_number,
        latest.office_id,
        latest.month,
        coalesce(read_before.was_over, false) AS was_over,
        loaded_months.customer_id,
        loaded_months.load_id
    FROM latest
    ANTI JOIN marts.sales AS now USING (estate_id)
    INNER JOIN loaded_months ON loaded_months.office_id = latest.office_id AND loaded_months.month = latest.month
    LEFT JOIN months_read_before AS read_before
        ON read_before.office_id = latest.office_id AND read_before.month = latest.month
    WHERE latest.is_present
),

agents_listed AS (
    SELECT
        estate_id,
        list(user_id ORDER BY is_responsible DESC NULLS LAST, user_id) AS agent_ids
    FROM marts.sale_shares
    WHERE is_of_part(estate_id)
    GROUP BY ALL
),

new_versions AS (
    SELECT
        *,
        (
            SELECT max(fetched_at_utc)
            FROM marts.office_sources
            WHERE report IN ('commission_office', 'sales', 'running_commissions', 'tips_and_leads')
        ) AS noted_at_utc
    FROM (SELECT * FROM changed_sales UNION ALL BY NAME SELECT * FROM gone_sales)
),

versions AS (
    SELECT * FROM meta.sale_versions WHERE is_of_part(estate_id)
    UNION ALL BY NAME
    SELECT * FROM new_versions
)

SELECT
    versions.estate_id,
    versions.estate_number,
    versions.version,
    versions.is_present,
    versions.office_id,
    offices.office_name,
    versions.month,
    versions.contract_on,
    versions.commission,
    versions.final_price,
    versions.was_over,
    versions.left_was_over,
    coalesce(now.street_address, last_value(versions.street_address IGNORE NULLS) OVER of_sale) AS street_address,
    coalesce(agents_listed.agent_ids, last_value(versions.agent_ids IGNORE NULLS) OVER of_sale) AS agent_ids,
    versions.noted_at_utc AS valid_from_utc,
    lead(versions.noted_at_utc) OVER of_sale AS valid_to_utc,
    versions.customer_id AS _customer,
    versions.month AS _month,
    versions.load_id AS _load_id
FROM versions
LEFT JOIN marts.offices AS offices USING (office_id)
LEFT JOIN marts.sales AS now USING (estate_id)
LEFT JOIN agents_listed USING (estate_id)
WINDOW of_sale AS (PARTITION BY versions.estate_id ORDER BY versions.version)
ORDER BY year(versions.month), versions.office_id, versions.month, versions.estate_id, versions.version
