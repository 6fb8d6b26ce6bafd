-- Whose answer counts for an office?
-- One row per report, office and month that is loaded: the customer whose answer counts, and its load.
-- Several customers may answer for an office, such as a group and the office itself. The first of their answers
-- counts, in this order:
-- 1. answers that have the office in the month: the office's own, and a group's from its first to its last month with
-- an entry of the office;
-- 2. of these, answers of customers that are still requested and found;
-- 3. of these, answers of the newest run;
-- 4. of these, the office's own answer.
-- A group's answer that was read after the office had left the group does not count.
-- A month without a row is unknown, not zero. The rest of a month with is_cut_short or is_unfinished is unknown too.
-- If lacks_rows is true, an office without a row in the answer is unknown too.
-- Example: the office M1 and its group G both answer for M1 in one run, and M1 counts. Once M1 is switched off in the
-- settings, G counts.
-- Key: report, office_id, month
-- Columns:
--   customer_id: the customer whose answer counts
--   office_id: customer id of the office
--   lacks_amount: whether the commission is missing in the office report, by one of two rules. First: another report
--     has a sale or some commission of the office for the month, but the office report has no row of the office, or no
--     commission in its row. Second: the office's row has no commission, although the last one known was not 0. The
--     second rule is off if null may just mean 0. That is assumed if some row without commission is contradicted
--     neither by another report nor by an earlier answer
--   is_partial: whether something of the office is missing, in one of three ways: the month was cut short or is
--     unfinished; the answer lacks the amount; or the answer lacks rows. Missing rows do not matter in an office report
--     with a row of this office
WITH chosen_answers AS (
    SELECT *
    FROM staging.office_answers
    WHERE NOT has_left
    QUALIFY row_number() OVER (
        PARTITION BY report, office_id, month
        ORDER BY has_entries DESC, is_refreshed DESC, run_read_at_utc DESC, is_own DESC, customer_id
    ) = 1
),

-- the office report has one row per office, so an office with a row lacks none
offices_loaded AS (
    SELECT DISTINCT 'commission_office' AS report, customer_id, office_id, month
    FROM staging.commission_office
),

earned_elsewhere AS (
    SELECT office_id, month FROM staging.commission_office_by_month WHERE commission <> 0
    UNION
    SELECT office_id, month FROM staging.sales_estates
),

earned_before AS (
    SELECT office_id, month
    FROM meta.month_totals
    WHERE report = 'commission_office' AND commission IS NOT NULL
    GROUP BY ALL
    HAVING arg_max(commission, version) <> 0
),

rows_without_commission AS (
    SELECT DISTINCT 'commission_office' AS report, customer_id, office_id, month
    FROM staging.commission_office
    WHERE commission IS NULL
),

rows_missing AS (
    SELECT report, customer_id, office_id, month
    FROM chosen_answers
    SEMI JOIN earned_elsewhere USING (office_id, month)
    ANTI JOIN offices_loaded USING (report, customer_id, office_id, month)
    WHERE report = 'commission_office'
),

answers_without_amount AS (
    FROM rows_without_commission
    SEMI JOIN earned_elsewhere USING (office_id, month)
    UNION
    FROM rows_missing
    UNION
    FROM rows_without_commission
    SEMI JOIN earned_before USING (office_id, month)
    WHERE NOT EXISTS (
        FROM rows_without_commission
        ANTI JOIN earned_elsewhere USING (office_id, month)
        ANTI JOIN earned_before USING (office_id, month)
    )
)

SELECT
    report,
    office_id,
    month,
    customer_id,
    load_id,
    fetched_at_utc,
    loaded_at_utc,
    is_open,
    source_state,
    is_refreshed,
    is_cut_short,
    is_unfinished,
    lacks_rows,
    answers_without_amount.office_id IS NOT NULL AS lacks_amount,
    lacks_rest(is_cut_short, is_unfinished) OR lacks_amount OR (lacks_rows AND offices_loaded.office_id IS NULL)
        AS is_partial,
    is_growing,
    is_current
FROM chosen_answers
LEFT JOIN offices_loaded USING (report, customer_id, office_id, month)
LEFT JOIN answers_without_amount USING (report, customer_id, office_id, month)
ORDER BY report, office_id, month
