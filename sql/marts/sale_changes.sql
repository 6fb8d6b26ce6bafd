-- Which sale explains the change of a month?
-- One row per sale, build that found it changed, and affected office and month. A sale that moved has two rows: one
-- where it left and one where it arrived.
-- Added up by noted_at_utc, office and month, the columns commission_change, price_change and row_count_change of the
-- rows with is_restatement equal those of marts.restatements (report sales).
-- In a month that was not over, new sales are expected and not listed. Other changes are listed, with is_restatement
-- false.
-- A first reading is not a change. Builds compare states, so two changes between two builds are one.
-- Key: estate_id, noted_at_utc, office_id, month
-- Columns:
--   noted_at_utc: time of the newest answer in the file when the change was found
--   change: appeared, vanished, moved away, moved here or amount changed
--   estate_id: id of the estate. A sale that vanished is in marts.sale_versions and marts.cancelled_sales, not in
--     marts.sales
--   office_id: customer id of the listing office
--   office_name: name of the office
--   month: first day of the month that the change counts in
--   is_restatement: whether the month was over at the previous reading
--   other_office_id: for a sale that moved, the office that it came from or went to
--   other_month: for a sale that moved, the month that it came from or went to
--   commission_before: commission before the change; currency not documented, tax basis as declared in marts.tax_basis
--   commission_after: commission after the change; currency not documented, tax basis as declared in marts.tax_basis
--   commission_change: what the change added to the commission of this office and month
--   price_before: sale price before the change; currency not documented
--   price_after: sale price after the change; currency not documented
--   price_change: what the change added to the prices of this office and month
--   row_count_change: sales added to this office and month, or removed if negative
--   load_id_before: the load that showed the earlier state; joins meta.loads
--   load_id_after: the load that showed the later state; joins meta.loads
--   _customer: the customer whose answer showed the later state
--   _month: first day of the month of the answer of _customer
--   _load_id: load of the answer of _customer; joins meta.loads
WITH compared AS (
    SELECT
        *,
        coalesce(lag(is_present) OVER states, false) AS was_present,
        lag(office_id) OVER states AS office_id_before,
        lag(month) OVER states AS month_before,
        lag(commission) OVER states AS commission_before,
        lag(final_price) OVER states AS price_before,
        lag(_load_id) OVER states AS load_id_before,
        (office_id, month) <> (office_id_before, month_before) AS has_moved
    FROM marts.sale_versions
    WINDOW states AS (PARTITION BY estate_id ORDER BY version)
),

changes AS (
    SELECT
        * EXCLUDE (commission_before, price_before),
        CASE WHEN was_present THEN 'moved here' ELSE 'appeared' END AS change,
        was_over AS is_restatement,
        CASE WHEN was_present THEN office_id_before END AS other_office_id,
        CASE WHEN was_present THEN month_before END AS other_month,
        commission AS commission_after,
        final_price AS price_after,
        1 AS row_count_change
    FROM compared
    WHERE is_present AND CASE WHEN was_present THEN has_moved ELSE was_over OR version > 1 END
    UNION ALL BY NAME
    SELECT
        * EXCLUDE (commission, final_price) REPLACE (office_id_before AS office_id, month_before AS month),
        CASE WHEN is_present THEN 'moved away' ELSE 'vanished' END AS change,
        CASE WHEN is_present THEN left_was_over ELSE was_over END AS is_restatement,
        CASE WHEN is_present THEN office_id END AS other_office_id,
        CASE WHEN is_present THEN month END AS other_month,
        -1 AS row_count_change
    FROM compared
    WHERE was_present AND (has_moved OR NOT is_present)
    UNION ALL BY NAME
    SELECT
        *,
        'amount changed' AS change,
        was_over AS is_restatement,
        commission AS commission_after,
        final_price AS price_after,
        0 AS row_count_change
    FROM compared
    WHERE is_present AND was_present AND NOT has_moved
        AND (commission, final_price) IS DISTINCT FROM (commission_before, price_before)
)

SELECT
    changes.valid_from_utc AS noted_at_utc,
    changes.change,
    changes.estate_id,
    changes.estate_number,
    changes.office_id,
    offices.office_name,
    changes.month,
    changes.is_restatement,
    changes.other_office_id,
    changes.other_month,
    changes.commission_before,
    changes.commission_after,
    (coalesce(changes.commission_after, 0) - coalesce(changes.commission_before, 0))::DECIMAL(18, 4)
        AS commission_change,
    changes.price_before,
    changes.price_after,
    (coalesce(changes.price_after, 0) - coalesce(changes.price_before, 0))::DECIMAL(18, 4) AS price_change,
    changes.row_count_change,
    changes.load_id_before,
    changes._load_id AS load_id_after,
    changes._customer,
    changes._month,
    changes._load_id
FROM changes
LEFT JOIN marts.offices AS offices USING (office_id)
ORDER BY noted_at_utc, changes.office_id, changes.month, changes.estate_id, changes.row_count_change
