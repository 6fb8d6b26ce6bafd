-- In which months of which offices do reports disagree?
-- One row per office and month for which marts.reconciliation has a difference. It has the largest known difference of
-- commission, of prices and of homes.
-- Example: the by-month report lacks a sale. In marts.reconciliation, several measures of that report then differ; here
-- the office and month have one row.
-- Key: office_id, month
-- Columns:
--   month: first day of the month
--   office_id: customer id of the office
--   office_name: name of the office
--   differing_reports: the reports that differ from the office report, by name. "shares of agents" is among them if
--     these shares differ from the whole commission in the sales list
--   odd_report: the report that is alone with its numbers. It is the office report if all others differ from it and
--     agree with one another; otherwise it is the only report that differs from the office report. Null if neither is
--     true, or if only one report could be compared with the office report
--   commission_difference: the largest difference of commission, or of commission from sales alone: the other report
--     less the office report, or the agents' shares less the whole commission
--   price_difference: the largest difference of prices: the other report less the office report
--   estate_parts_difference: the largest difference of homes sold: the other report less the office report
--   likely_reason: why the reports may differ: taken from the row of marts.reconciliation with the largest difference
--     of commission or, if commission does not differ, with the largest difference of all
--   last_read_at_utc: when the service gave the newest of the answers that differ
--   _customer: the customer whose office report counts
--   _month: first day of the month of that report
WITH comparisons AS (
    SELECT
        *,
        CASE
            WHEN contains(measure, 'commission') THEN 'commission'
            WHEN contains(measure, 'price') THEN 'price'
            ELSE 'estate parts'
        END AS kind
    FROM marts.reconciliation
    WHERE is_reconciled IS NOT NULL
),

-- are_in_agreement: whether the reports that are compared with the office report agree with one another.
differences_by_kind AS (
    SELECT
        office_id,
        month,
        kind,
        bool_and(NOT is_reconciled) AS are_all_different,
        coalesce(max(difference) - min(difference) <= 2 * max(tolerance), bool_and(amount IS NULL)) AS are_in_agreement
    FROM comparisons
    WHERE compared <> 'shares of agents'
    GROUP BY ALL
    HAVING NOT bool_and(is_reconciled)
),

office_report AS (
    SELECT office_id, month, bool_and(are_all_different AND are_in_agreement) AS is_odd
    FROM differences_by_kind
    GROUP BY ALL
)

SELECT
    comparisons.month,
    comparisons.office_id,
    any_value(comparisons.office_name) AS office_name,
    string_agg(DISTINCT comparisons.compared, ', ' ORDER BY comparisons.compared) FILTER (NOT comparisons.is_reconciled)
        AS differing_reports,
    CASE
        WHEN count(DISTINCT comparisons.compared) FILTER (comparisons.compared <> 'shares of agents') < 2 THEN NULL
        WHEN bool_or(office_report.is_odd) THEN 'office report'
        WHEN count(DISTINCT comparisons.compared) FILTER (NOT comparisons.is_reconciled AND comparisons.compared <> 'shares of agents') = 1
            THEN min(comparisons.compared) FILTER (NOT comparisons.is_reconciled AND comparisons.compared <> 'shares of agents')
    END AS odd_report,
    arg_max(comparisons.difference, abs(comparisons.difference))
        FILTER (NOT comparisons.is_reconciled AND comparisons.kind = 'commission') AS commission_difference,
    arg_max(comparisons.difference, abs(comparisons.difference)) FILTER (NOT comparisons.is_reconciled AND comparisons.kind = 'price')
        AS price_difference,
    arg_max(comparisons.difference, abs(comparisons.difference))
        FILTER (NOT comparisons.is_reconciled AND comparisons.kind = 'estate parts')::DECIMAL(18, 4) AS estate_parts_difference,
    arg_max(comparisons.likely_reason, (comparisons.kind = 'commission', abs(comparisons.difference), comparisons.likely_reason))
        FILTER (NOT comparisons.is_reconciled) AS likely_reason,
    max(greatest(comparisons.read_at_utc, comparisons.compared_read_at_utc)) FILTER (NOT comparisons.is_reconciled) AS last_read_at_utc,
    any_value(comparisons._customer) AS _customer,
    comparisons.month AS _month
FROM comparisons
LEFT JOIN office_report USING (office_id, month)
GROUP BY comparisons.month, comparisons.office_id
HAVING NOT bool_and(comparisons.is_reconciled)
ORDER BY comparisons.month, comparisons.office_id
