-- Which office of the chain is the company that a lead names?
-- One row per company in staging.leads that is an office of the chain.
-- The office is found by its customer id, by the number in that id (FIR101 and 101 are M101), by the office's own id
-- as its budgets state it, or by name.
-- Kind: table
-- Columns:
--   company_number: customer number of the company
--   company_id: id of the company
--   company_name: name of the company
--   office_id: customer id of the office
WITH company_keys AS (
    SELECT
        company_number,
        company_id,
        company_name,
        unnest([
            {'preference': 1, 'key': company_number},
            {'preference': 2, 'key': company_id},
            {'preference': 3, 'key': office_number(company_number)},
            {'preference': 4, 'key': office_number(company_id)},
            {'preference': 5, 'key': lower(company_name)}
        ], recursive := true)
    FROM (
        SELECT party_company_number AS company_number, party_company_id AS company_id, party_company_name AS company_name
        FROM staging.leads
        UNION
        SELECT receiver_company_number, receiver_company_id, receiver_company_name FROM staging.leads
    )
),

office_keys AS (
    SELECT key, any_value(office_id) AS office_id
    FROM (
        SELECT office_id, unnest([office_id, office_number(office_id), lower(office_name)]) AS key FROM marts.offices
        UNION ALL SELECT office_id, unnest([office_named, office_number(office_named)]) FROM bi.office_budget_commission_history
    )
    GROUP BY key
    HAVING count(DISTINCT office_id) = 1
)

SELECT company_number, company_id, company_name, arg_min(office_keys.office_id, preference) AS office_id
FROM company_keys
INNER JOIN office_keys USING (key)
GROUP BY ALL
