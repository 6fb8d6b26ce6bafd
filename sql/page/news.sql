-- What has changed since last week, and which sales and budgets are the reason?
-- One row of kind since, with the moment that is compared with: the newest publication that is a week older than this
-- one, else the oldest; no row in a file that has none before it. Then one row per sale of another state than at that
-- moment: new, gone, amount, moved to another month, or moved here from another office and once more moved away from
-- that. One of kind closed per office and month that was over then and has another commission in the office report now, with
-- the sale that changed it most, whenever that was noted in the sales list, and what no change of a sale explains. And two per
-- office, for the months from month to until: budget where that of commission is another, entered with the number of agents
-- who have one now and had none.
-- A sale is new only where its office was known before: what is read for the first time is no news. Commission is that
-- of the whole sale, at the listing office, without the VAT that the settings declare.
WITH declared AS (
    SELECT coalesce(max(vat_rate) FILTER (commission_vat = 'included'), 0) AS vat_rate FROM meta.tax_basis
),

published AS (
    SELECT at_utc FROM meta.publications WHERE status = 'published'
),

since AS (
    SELECT
        coalesce(
            max(earlier.at_utc) FILTER (earlier.at_utc <= newest.at_utc - INTERVAL 156 HOUR), min(earlier.at_utc)
        ) AS at_utc
    FROM published AS earlier
    INNER JOIN (SELECT max(at_utc) AS at_utc FROM published) AS newest ON earlier.at_utc < newest.at_utc
    WHERE earlier.at_utc >= (SELECT min(valid_from_utc) FROM marts.sale_versions)
    HAVING count(*) > 0
),

months_known AS (
    SELECT DISTINCT totals.office_id, totals.month
    FROM marts.month_total_versions AS totals
    INNER JOIN since ON totals.valid_from_utc <= since.at_utc
    WHERE totals.report = 'sales'
),

sales_then AS (
    SELECT versions.*
    FROM marts.sale_versions AS versions
    INNER JOIN since
        ON versions.valid_from_utc <= since.at_utc AND coalesce(versions.valid_to_utc > since.at_utc, true)
    WHERE versions.is_present
),

sales_compared AS (
    SELECT
        CASE
            WHEN before.estate_id IS NULL THEN 'new'
            WHEN NOT now.is_present THEN 'gone'
            WHEN now.office_id <> before.office_id THEN 'moved here'
            WHEN now.month <> before.month THEN 'moved'
            ELSE 'amount'
        END AS kind,
        now.estate_id,
        now.estate_number,
        now.office_id,
        now.month,
        before.office_id AS office_id_before,
        before.month AS month_before,
        before.commission AS commission_before,
        CASE WHEN now.is_present THEN now.commission END AS commission,
        since.at_utc
    FROM marts.sale_versions AS now
    CROSS JOIN since
    LEFT JOIN sales_then AS before USING (estate_id)
    WHERE now.valid_to_utc IS NULL
        AND (now.is_present OR before.estate_id IS NOT NULL)
        AND (before.estate_id IS NULL, now.is_present, now.office_id, now.month, now.commission)
        IS DISTINCT FROM (false, true, before.office_id, before.month, before.commission)
),

sales_changed AS (
    SELECT * FROM sales_compared
    WHERE kind <> 'new'
        OR (office_id, month) IN (SELECT (office_id, month) FROM months_known)
        OR (month >= date_trunc('month', at_utc) AND office_id IN (SELECT office_id FROM months_known))
    UNION ALL BY NAME
    SELECT * REPLACE ('moved away' AS kind, office_id_before AS office_id, month_before AS month)
    FROM sales_compared
    WHERE kind = 'moved here'
),

closed_months AS (
    SELECT
        now.office_id,
        now.month,
        before.commission AS commission_before,
        now.commission,
        now.commission - before.commission AS change,
        before.valid_from_utc AS known_since,
        since.at_utc
    FROM marts.month_total_versions AS now
    CROSS JOIN since
    INNER JOIN marts.month_total_versions AS before
        ON before.report = now.report
        AND before.office_id = now.office_id
        AND before.month = now.month
        AND before.valid_from_utc <= since.at_utc
        AND before.valid_to_utc > since.at_utc
        AND NOT before.is_open
    WHERE now.report = 'commission_office' AND now.valid_to_utc IS NULL AND now.commission <> before.commission
),

-- The total moved after known_since, so changes of sales noted later belong to it; an earlier one does if it is just as large.
closed_months_summed AS (
    SELECT
        closed.*,
        sales.estate_id,
        sales.estate_number,
        sales.change AS kind_of_change,
        sales.noted_at_utc,
        sales.commission_change AS sale_change,
        coalesce(sum(sales.commission_change) FILTER (sales.noted_at_utc > closed.known_since) OVER of_month, 0) AS explained
    FROM closed_months AS closed
    LEFT JOIN marts.sale_changes AS sales
        ON sales.office_id = closed.office_id AND sales.month = closed.month AND abs(sales.commission_change) >= 1
    WINDOW of_month AS (PARTITION BY closed.office_id, closed.month)
),

closed_months_explained AS (
    SELECT
        *,
        CASE
            WHEN abs(change - explained) < 1 AND noted_at_utc > known_since THEN 1
            WHEN abs(change - sale_change) < 1 THEN 2
            WHEN abs(change - explained - sale_change) < 1 AND noted_at_utc <= known_since THEN 3
            WHEN noted_at_utc > known_since THEN 4
        END AS fit
    FROM closed_months_summed
    QUALIFY row_number() OVER (
        PARTITION BY office_id, month ORDER BY fit NULLS LAST, abs(sale_change) DESC, noted_at_utc DESC, estate_id
    ) = 1
),

budgets_of_agents AS (
    SELECT
        budgets.office_id,
        budgets.month,
        budgets.user_id,
        sum(amount) FILTER (
            valid_from_utc <= since.at_utc AND coalesce(valid_to_utc > since.at_utc, true)
        ) AS amount_before,
        sum(amount) FILTER (valid_to_utc IS NULL) AS amount
    FROM marts.budgets AS budgets
    CROSS JOIN since
    WHERE measure = 'commission'
    GROUP BY budgets.office_id, budgets.month, budgets.user_id
),

-- A month of which no budget was known is read for the first time, which is no news.
budgets_compared AS (
    SELECT *, user_id IS NOT NULL AND amount_before IS NULL AS is_entered
    FROM budgets_of_agents
    WHERE amount_before IS DISTINCT FROM amount
        AND (office_id, month) IN (SELECT (office_id, month) FROM budgets_of_agents WHERE amount_before IS NOT NULL)
),

found AS (
    SELECT 'since' AS kind, at_utc FROM since
    UNION ALL BY NAME
    SELECT
        changed.kind,
        changed.at_utc,
        changed.office_id,
        changed.month,
        sales.street_address AS home,
        coalesce(changed.estate_number, changed.estate_id) AS home_number,
        sales.responsible_user_name AS agent,
        (changed.commission_before / (1 + declared.vat_rate))::DECIMAL(18, 4) AS amount_before,
        (changed.commission / (1 + declared.vat_rate))::DECIMAL(18, 4) AS amount
    FROM sales_changed AS changed
    CROSS JOIN declared
    LEFT JOIN marts.sales AS sales USING (estate_id)
    UNION ALL BY NAME
    SELECT
        'closed' AS kind,
        closed.at_utc,
        closed.office_id,
        closed.month,
        CASE WHEN closed.fit IS NOT NULL THEN sales.street_address END AS home,
        CASE WHEN closed.fit IS NOT NULL THEN coalesce(closed.estate_number, closed.estate_id) END AS home_number,
        CASE WHEN closed.fit IS NOT NULL THEN closed.kind_of_change END AS kind_of_change,
        CASE WHEN closed.fit IS NOT NULL THEN closed.noted_at_utc END AS noted_at_utc,
        CASE WHEN closed.fit <= 3 THEN 0 ELSE ((closed.change - closed.explained) / (1 + declared.vat_rate))::DECIMAL(18, 4) END
            AS unexplained,
        (closed.commission_before / (1 + declared.vat_rate))::DECIMAL(18, 4) AS amount_before,
        (closed.commission / (1 + declared.vat_rate))::DECIMAL(18, 4) AS amount
    FROM closed_months_explained AS closed
    CROSS JOIN declared
    LEFT JOIN marts.sales AS sales USING (estate_id)
    UNION ALL BY NAME
    SELECT
        CASE WHEN is_entered THEN 'entered' ELSE 'budget' END AS kind,
        office_id,
        min(month) AS month,
        max(month) AS until,
        count(DISTINCT user_id) AS agent_count,
        sum(coalesce(amount_before, 0))::DECIMAL(18, 4) AS amount_before,
        sum(coalesce(amount, 0))::DECIMAL(18, 4) AS amount
    FROM budgets_compared
    GROUP BY office_id, is_entered
    HAVING sum(coalesce(amount_before, 0)) <> sum(coalesce(amount, 0))
)

SELECT
    found.kind,
    found.at_utc,
    found.office_id,
    coalesce(offices.office_name, found.office_id) AS office_name,
    found.month,
    found.until,
    found.home,
    found.home_number,
    found.agent,
    found.amount_before,
    found.amount,
    found.agent_count,
    found.kind_of_change,
    found.noted_at_utc,
    found.unexplained
FROM found
LEFT JOIN marts.offices AS offices USING (office_id)
ORDER BY found.kind, abs(coalesce(found.amount, 0) - coalesce(found.amount_before, 0)) DESC, found.office_id, found.home_number
