-- Which offices are there, what are they called, and to which brand and region do they belong?
-- One row per office that a configured customer answers for. The name is the last one read in any report.
-- An office that trades under several trademarks counts under one brand: the longest trademark that its own name
-- contains or, if it contains none, the first by name. The shape of the answer with trademarks is not documented.
-- The region is that of the settings.
-- Key: office_id
-- Columns:
--   office_id: customer id of the office
--   office_name: name of the office
--   office_city: town of the office
--   brand: the trademark that the office counts under, assumed; null if none is known
--   trademarks: all trademarks that the office trades under, by name; null if none is known
--   region: region of the office in the settings, else of a group that answers for it; null if none is given
WITH trademarks_chosen AS (
    SELECT *
    FROM staging.trademarks
    WHERE trademark IS NOT NULL
    QUALIFY is_refreshed = bool_or(is_refreshed) OVER (PARTITION BY office_id)
),

offices_named AS (
    SELECT
        office_id,
        arg_max(office_name, named_at_utc) AS office_name,
        arg_max(office_city, named_at_utc) AS office_city
    FROM staging.customer_offices
    GROUP BY ALL
),

brands AS (
    SELECT
        office_id,
        arg_min(trademark, (
            CASE WHEN contains(lower(office_name), lower(trademark)) THEN -length(trademark) ELSE 0 END, trademark
        )) AS brand,
        array_to_string(list_sort(list(DISTINCT trademark)), ', ') AS trademarks
    FROM trademarks_chosen
    INNER JOIN offices_named USING (office_id)
    GROUP BY ALL
),

regions AS (
    SELECT
        offices.office_id,
        arg_min(customers.region, (
            customers.customer_id <> offices.office_id, NOT customers.is_active, customers.customer_id
        )) AS region
    FROM staging.customer_offices AS offices
    INNER JOIN staging.customers AS customers
        ON customers.customer_id = offices.customer_id OR customers.customer_id = offices.office_id
    WHERE customers.region IS NOT NULL
    GROUP BY ALL
)

SELECT
    offices_named.office_id,
    offices_named.office_name,
    offices_named.office_city,
    brands.brand,
    brands.trademarks,
    regions.region
FROM offices_named
LEFT JOIN brands USING (office_id)
LEFT JOIN regions USING (office_id)
ORDER BY offices_named.office_id
