-- Which of these customers answer for these offices?
-- One row per office and customer: the office itself, and every group whose answers have named it.
-- Parameters: offices, customers
SELECT DISTINCT office_id, customer
FROM (
    SELECT unnest($customers::VARCHAR[]) AS office_id, office_id AS customer
    UNION ALL
    SELECT office_customer_id, _customer FROM bi.commission_office
    UNION ALL
    SELECT office_customer_id, _customer FROM bi.sales_estates
)
WHERE list_contains($offices, office_id) AND list_contains($customers, customer)
