-- Which offices are there, of which brand and region, and since when?
-- One row per office: marts.offices with first and last months, as a dimension of marts.office_month and agent_month.
-- Kind: view
-- Key: office_id
-- Columns:
--   office_id: customer id of the office
--   office_label: name of the office; the id if there is no name
--   began_month: first month in which the office was active, see marts.office_month; null if unknown
--   last_month: newest loaded month of the office
--   closed_after_month: last month of an office that has closed, see marts.office_month; null for all others
SELECT
    offices.office_id,
    coalesce(offices.office_name, offices.office_id) AS office_label,
    offices.office_city,
    offices.brand,
    offices.region,
    spans.began_month,
    spans.last_month,
    spans.closed_after_month
FROM marts.offices AS offices
LEFT JOIN (
    SELECT office_id, any_value(began_month) AS began_month, max(month) AS last_month,
        any_value(closed_after_month) AS closed_after_month
    FROM marts.office_month
    GROUP BY ALL
) AS spans USING (office_id)
ORDER BY offices.office_id
