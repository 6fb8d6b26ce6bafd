-- What did each office earn, month by month?
-- One row per office and month; amounts are null where the office report is not held.
SELECT
    month,
    office_id,
    coalesce(office_name, office_id) AS office_name,
    commission,
    sold_commission,
    sold_estate_parts,
    is_open
FROM marts.office_month
ORDER BY office_id, month
