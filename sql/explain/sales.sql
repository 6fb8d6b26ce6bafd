-- Which sales is the commission of the months made of, and of which was that of the same months a year before?
-- One row per period and sale, the largest share first, and one without id for what of the commission is in no listed sale:
-- writings and valuations, and what the sales list has not. A share counts at the agent's own office and not at the one that
-- listed the home; agents are all of the sale, each with the part of it where there are several.
-- Parameters: kind, id, first_month, month, measure, report
WITH periods AS (
    SELECT
        place,
        (getvariable('first_month')::DATE - place * INTERVAL 1 YEAR)::DATE AS first_month,
        (getvariable('month')::DATE - place * INTERVAL 1 YEAR)::DATE AS month
    FROM range(2) AS years (place)
    WHERE is_of_commissions() AND getvariable('kind') <> 'chain'
),

agents_named AS (
    SELECT
        sharing.estate_id,
        string_agg(
            concat_ws(
                ' ',
                coalesce(users.user_label, sharing.user_name, sharing.user_id),
                CASE WHEN sharing.agent_count > 1 THEN round(100 * sharing.commission_share)::INT || ' %' END
            ),
            ', ' ORDER BY sharing.commission DESC, sharing.user_id
        ) AS agents
    FROM (SELECT *, count(*) OVER (PARTITION BY estate_id) AS agent_count FROM marts.sale_shares) AS sharing
    LEFT JOIN marts.users AS users USING (user_id)
    GROUP BY sharing.estate_id
),

counted AS (
    SELECT
        periods.place,
        shares.estate_id AS id,
        sum(shares.commission) AS commission,
        sum(shares.commission_share) AS homes
    FROM periods
    INNER JOIN marts.sale_shares AS shares ON shares.month BETWEEN periods.first_month AND periods.month
    WHERE is_asked_for(shares.user_office_id, shares.user_id)
    GROUP BY ALL
),

whole AS (
    SELECT periods.place, sum(known.commission) AS commission
    FROM periods
    INNER JOIN (
        SELECT month, commission FROM marts.office_month
        WHERE getvariable('kind') = 'office' AND office_id = getvariable('id')
        UNION ALL
        SELECT month, commission FROM marts.user_month WHERE getvariable('kind') = 'user' AND user_id = getvariable('id')
    ) AS known ON known.month BETWEEN periods.first_month AND periods.month
    GROUP BY periods.place
),

listed AS (
    SELECT
        counted.place,
        coalesce(sales.street_address, sales.estate_id) AS home,
        sales.contract_on,
        counted.commission,
        counted.homes,
        sales.access_on AS possession_on,
        paid.state,
        paid.days_due,
        paid.commission_received_on AS received_on,
        agents_named.agents,
        counted.id
    FROM counted
    INNER JOIN marts.sales AS sales ON sales.estate_id = counted.id
    LEFT JOIN agents_named ON agents_named.estate_id = counted.id
    LEFT JOIN marts.receivables AS paid ON paid.estate_id = counted.id
    UNION ALL BY NAME
    SELECT
        whole.place,
        'in no listed sale' AS home,
        whole.commission - coalesce(sum(counted.commission), 0) AS commission
    FROM whole
    LEFT JOIN counted USING (place)
    GROUP BY whole.place, whole.commission
    HAVING abs(whole.commission - coalesce(sum(counted.commission), 0)) >= 1
)

SELECT
    months_of(periods.first_month, periods.month) AS period,
    listed.* EXCLUDE (place, commission),
    listed.commission::DECIMAL(28, 8) AS commission
FROM listed
INNER JOIN periods USING (place)
WHERE getvariable('measure') LIKE '%commission%' OR listed.id IS NOT NULL
ORDER BY periods.place, listed.id IS NULL, listed.commission DESC, listed.id
