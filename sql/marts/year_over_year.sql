-- How does a month compare with the same month a year before?
-- One row per office and month with known commission.
-- Numbers of the year before are null, never zero, if the same month a year before is not completely loaded, or if the
-- office began later.
-- The year so far adds up months from January, and is null unless each of them is completely loaded.
-- An open month is not compared. A year so far that includes an open month is not compared either.
-- Kind: view
-- Key: office_id, month
-- Columns:
--   office_id: customer id of the office
--   office_name: name of the office
--   commission: commission from sales, valuations and writing assignments together, by share; currency not documented,
--     tax basis as declared in marts.tax_basis
--   commission_before: commission of the same month a year before
--   is_closed: whether the office had closed before the month, see marts.office_month; then it is not compared
--   commission_change: commission less commission_before. Null in three cases: in an open month; for a closed office;
--     if commission_before is null or the month is not completely loaded
--   commission_change_share: commission_change as a share of commission_before; 0.1 is a tenth more
--   sold_estate_parts_before: homes sold in the same month a year before
--   sold_total_price_before: prices of what was sold in the same month a year before
--   year_to_date_commission: commission from January to the month, to now while it is open
--   year_to_date_commission_before: commission from January to the same month of the year before
--   year_to_date_change_share: year_to_date_commission less year_to_date_commission_before, as a share of the latter.
--     Null in four cases: in an open month; for a closed office; if the office began after January of the year before;
--     if one of the two amounts is null, or the earlier one is zero
--   year_to_date_parts: homes sold from January to the month
--   year_to_date_parts_before: homes sold from January to the same month of the year before
WITH known_months AS (
    SELECT
        month, office_id, office_name, commission, sold_estate_parts, sold_total_price, began_month,
        closed_after_month, is_open, is_commission_complete,
        count(*) FILTER (is_commission_complete) OVER so_far = month(month) AS is_whole,
        sum(commission) OVER so_far AS year_to_date_commission,
        sum(sold_estate_parts) OVER so_far AS year_to_date_parts
    FROM marts.office_month
    WHERE commission IS NOT NULL
    WINDOW so_far AS (PARTITION BY office_id, year(month) ORDER BY month)
)

SELECT
    now.month,
    now.office_id,
    now.office_name,
    now.is_open,
    now.is_commission_complete,
    coalesce(now.month > now.closed_after_month, false) AS is_closed,
    now.commission,
    before.commission AS commission_before,
    (CASE WHEN now.is_commission_complete AND NOT (now.is_open OR is_closed) THEN now.commission - before.commission END)::DECIMAL(18, 4)
        AS commission_change,
    (commission_change / nullif(before.commission, 0))::DECIMAL(19, 8) AS commission_change_share,
    now.sold_estate_parts,
    before.sold_estate_parts AS sold_estate_parts_before,
    now.sold_total_price,
    before.sold_total_price AS sold_total_price_before,
    (CASE WHEN now.is_whole THEN now.year_to_date_commission END)::DECIMAL(18, 4) AS year_to_date_commission,
    (CASE WHEN before.is_whole THEN before.year_to_date_commission END)::DECIMAL(18, 4)
        AS year_to_date_commission_before,
    (CASE
        WHEN
            now.is_whole AND before.is_whole AND NOT (now.is_open OR is_closed)
            AND coalesce(now.began_month <= date_trunc('year', before.month), true)
        THEN (now.year_to_date_commission - before.year_to_date_commission) / nullif(before.year_to_date_commission, 0)
    END)::DECIMAL(19, 8) AS year_to_date_change_share,
    (CASE WHEN now.is_whole THEN now.year_to_date_parts END)::DECIMAL(19, 8) AS year_to_date_parts,
    (CASE WHEN before.is_whole THEN before.year_to_date_parts END)::DECIMAL(19, 8) AS year_to_date_parts_before
FROM known_months AS now
LEFT JOIN known_months AS before
    ON before.office_id = now.office_id
    AND before.month = (now.month - INTERVAL 1 YEAR)::DATE
    AND before.is_commission_complete
    AND coalesce(before.month >= before.began_month, true)
ORDER BY now.month, now.office_id
