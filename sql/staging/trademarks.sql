-- Which trademarks do the offices trade under?
-- One row per customer asked, trademark that stands now and office.
-- Nobody has documented trademarks: assumed are a name and the offices, as ids, in a list of any name if some of them
-- are offices of the customer asked, or as a list of offices. An answer that
-- names no office is taken to speak of all offices of the customer asked where it has only one trademark or the
-- customer is an office itself. What arrives in another shape has neither name nor office here.
-- Columns:
--   customer_id: the customer that was asked, an office or a group
--   office_id: customer id of the office; null where the answer names none
--   trademark: name of the trademark; null where it has arrived in another shape
--   is_refreshed: whether this customer is still asked for its trademarks; if not, they stay as they were last read
WITH arrived AS (
    SELECT * FROM bi.trademarks_history
    UNION ALL BY NAME
    SELECT
        NULL::VARCHAR AS name, NULL::VARCHAR AS trademark, NULL::VARCHAR AS trademark_name,
        NULL::VARCHAR AS customer_ids, NULL::VARCHAR AS office_ids, NULL::VARCHAR AS customer_id,
        NULL::VARCHAR AS office_id, NULL::JSON AS offices
    WHERE false
),

named AS (
    SELECT
        _row AS landed_row,
        _customer AS asked_id,
        nullif(trim(coalesce(name::VARCHAR, trademark::VARCHAR, trademark_name::VARCHAR)), '') AS trademark,
        coalesce(
            customer_ids::VARCHAR, office_ids::VARCHAR, customer_id::VARCHAR, office_id::VARCHAR,
            CASE WHEN starts_with(offices::VARCHAR, '[') THEN offices::VARCHAR END
        ) AS listed_ids,
        to_json(_arrived) AS said,
        count(*) OVER (PARTITION BY _customer) AS trademark_count
    FROM arrived AS _arrived
    WHERE valid_to_utc IS NULL
),

of_any_list AS (
    SELECT
        given.landed_row,
        given.office_id,
        bool_or(offices.office_id IS NOT NULL) OVER (PARTITION BY given.asked_id, given.listed_as) AS lists_offices
    FROM (
        SELECT
            landed_row, asked_id, listed_as,
            trim(unnest(regexp_extract_all(said ->> listed_as, '[^][",]+'))) AS office_id
        FROM (SELECT landed_row, asked_id, said, unnest(json_keys(said)) AS listed_as FROM named)
        WHERE starts_with(said ->> listed_as, '[')
    ) AS given
    LEFT JOIN staging.customer_offices AS offices
        ON offices.customer_id = given.asked_id AND offices.office_id = given.office_id
),

listed AS (
    SELECT landed_row, trim(unnest(regexp_extract_all(listed_ids, '[^][",]+'))) AS office_id FROM named
    UNION
    SELECT landed_trademark, office_id FROM staging.trademark_members
    UNION
    SELECT landed_row, office_id FROM of_any_list WHERE lists_offices
),

of_offices AS (
    SELECT named.asked_id, named.trademark, coalesce(listed.office_id, offices.office_id) AS office_id
    FROM named
    LEFT JOIN listed ON listed.landed_row = named.landed_row AND listed.office_id <> ''
    LEFT JOIN staging.customer_offices AS offices
        ON listed.office_id IS NULL
        AND offices.customer_id = named.asked_id
        AND (named.trademark_count = 1 OR offices.office_id = named.asked_id)
)

SELECT DISTINCT
    of_offices.asked_id AS customer_id,
    of_offices.office_id,
    of_offices.trademark,
    coalesce(customers.is_active, true) AND refused.denied_at_utc IS NULL AS is_refreshed
FROM of_offices
LEFT JOIN meta.customers AS customers ON customers.customer = of_offices.asked_id
LEFT JOIN meta.access AS refused ON refused.report = 'trademarks' AND refused.customer = of_offices.asked_id
