-- What has changed since last week, and which sales and budgets are the reason?
-- One row of kind since, with the moment that is compared with: the newest publication that is a week older than this
-- one, else the oldest; no row in a file that has none before it. Then one row per sale of another state than at that
-- moment: new, gone, amount, moved to another month, or moved here from another office and once more moved away from
-- that. One of kind closed per office and month that was over then and has another commission in the office report now, with
-- what no change of a sale explains, and one of kind reason per sale that does, whenever that was noted in the sales list:
-- they add up. Where sales do not explain all, there is one of kind work per agent of the office whose writings and valuations
-- brought another amount, with how many more there are (null where that was not kept), and agents_change of the closed month
-- is that of all its agents' commission (null where that is not known). One of kind price is a sale of which only the price
-- is another, with that before and now. And one per agent whose budget of commission changed, for the months from month to until of a year: entered
-- where all of the office's are new, else budget, with the sum of the office over the same months before and after, so that
-- these add up too; without an agent it is nobody's in person. For a later year of which budgets were entered there is one
-- of kind budgeted per office: its agents with a budget of commission and their sum, for that year up to until, the last
-- month that was asked for, and for the same months of the year before.
-- And there is one of kind left per agent who was taken out of the directory since, at an office where no more than two
-- earned more in the year up to the newest month that is over for every office: month and until, with the commission of
-- these months.
-- A sale is new only where its office was known before: what is read for the first time is no news. Commission of a sale is
-- the whole of it, at the listing office (is_part says that other offices have a share), and of a reason, and of kind new
-- share, which divides each new sale and names the office's agents of it, that of these agents; all are without the VAT that the settings declare. Of a sale that is listed no more, contract_on, landing and sha256 say which stored answer had it last.
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
        CASE WHEN now.month <> before.month THEN before.month END AS other_month,
        CASE WHEN now.office_id <> before.office_id THEN before.office_id END AS other_office_id,
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
    SELECT * REPLACE (
        'moved away' AS kind,
        office_id_before AS office_id,
        month_before AS month,
        CASE WHEN month <> month_before THEN month END AS other_month,
        office_id AS other_office_id
    )
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

-- A sale counts at the offices of its agents by their shares, as in the office report; who shared in a sale that is gone, or
-- moved away to another office, nobody knows any more: it counts whole where it was listed.
shares AS (
    SELECT
        shared.estate_id,
        coalesce(shared.user_office_id, shared.office_id) AS office_id,
        sum(shared.commission_share) AS share,
        string_agg(
            coalesce(users.user_label, shared.user_name), ', ' ORDER BY shared.commission_share DESC, shared.user_id
        ) AS agents
    FROM marts.sale_shares AS shared
    LEFT JOIN marts.users AS users USING (user_id)
    GROUP BY ALL
),

-- All who share in a sale, beside its whole commission.
agents_of_sales AS (
    SELECT estate_id, string_agg(agents, ', ' ORDER BY share DESC, office_id) AS agents
    FROM shares
    GROUP BY ALL
),

new_sales_shared AS (
    SELECT
        changed.* REPLACE (
            'new share' AS kind,
            coalesce(shares.office_id, changed.office_id) AS office_id,
            changed.commission * coalesce(shares.share, 1) AS commission
        ),
        shares.agents,
        coalesce(shares.share < 0.999, false) AS is_part
    FROM sales_changed AS changed
    LEFT JOIN shares USING (estate_id)
    WHERE changed.kind = 'new'
),

sale_changes_shared AS (
    SELECT
        changes.* REPLACE (
            coalesce(shares.office_id, changes.office_id) AS office_id,
            nullif(changes.other_office_id, changes.office_id) AS other_office_id,
            nullif(changes.other_month, changes.month) AS other_month
        ),
        changes.commission_change * coalesce(shares.share, 1) AS effect,
        coalesce(shares.share < 0.999, false) AS is_part
    FROM marts.sale_changes AS changes
    LEFT JOIN shares
        ON shares.estate_id = changes.estate_id
        AND NOT (changes.change = 'moved away' AND changes.other_office_id <> changes.office_id)
),

-- The total moved after known_since, so changes of sales noted later belong to it; an earlier one does if it is just as large.
reasons_possible AS (
    SELECT
        closed.office_id,
        closed.month,
        closed.change,
        shared.estate_id,
        shared.noted_at_utc > closed.known_since AS is_recent,
        max(shared.noted_at_utc) AS noted_at_utc,
        any_value(shared.estate_number) AS estate_number,
        arg_max(shared.change, shared.noted_at_utc) AS kind_of_change,
        arg_max(shared.other_month, shared.noted_at_utc) AS other_month,
        arg_max(shared.other_office_id, shared.noted_at_utc) AS other_office_id,
        arg_max(shared.is_part, shared.noted_at_utc) AS is_part,
        sum(shared.effect) AS effect
    FROM closed_months AS closed
    INNER JOIN sale_changes_shared AS shared USING (office_id, month)
    GROUP BY
        closed.office_id, closed.month, closed.change, shared.estate_id, is_recent,
        CASE WHEN shared.noted_at_utc <= closed.known_since THEN shared.noted_at_utc END
    HAVING abs(sum(shared.effect)) >= 1
),

reasons_rated AS (
    SELECT
        *,
        coalesce(sum(effect) FILTER (is_recent) OVER of_month, 0) AS recent,
        CASE
            WHEN is_recent AND abs(change - recent) < 1 THEN 1
            WHEN abs(change - effect) < 1 THEN 2
            WHEN NOT is_recent AND abs(change - recent - effect) < 1 THEN 3
            WHEN is_recent THEN 4
        END AS fit
    FROM reasons_possible
    WINDOW of_month AS (PARTITION BY office_id, month)
),

reasons AS (
    SELECT *
    FROM reasons_rated
    WINDOW
        of_month AS (PARTITION BY office_id, month),
        by_fit AS (PARTITION BY office_id, month ORDER BY fit NULLS LAST, noted_at_utc DESC, estate_id)
    QUALIFY fit IS NOT NULL AND CASE min(fit) OVER of_month
        WHEN 2 THEN row_number() OVER by_fit = 1
        WHEN 3 THEN is_recent OR row_number() OVER by_fit = 1
        ELSE is_recent
    END
),

closed_months_explained AS (
    SELECT closed.*, any_value(closed.change) - coalesce(sum(reasons.effect), 0) AS unexplained
    FROM closed_months AS closed
    LEFT JOIN reasons USING (office_id, month)
    GROUP BY ALL
),

agents_of_closed_months AS (
    SELECT
        closed.office_id,
        closed.month,
        users.user_label AS agent,
        before.user_id IS NOT NULL AS is_known,
        now.valid_from_utc AS noted_at_utc,
        now.commission - total_of(is_known, before.commission) AS change,
        now.commission - now.sold_commission - total_of(is_known, before.commission - before.sold_commission) AS unsold_change,
        now.writing_parts - before.writing_parts AS writings,
        now.valuation_parts - before.valuation_parts AS valuations
    FROM closed_months_explained AS closed
    INNER JOIN marts.user_month AS users USING (office_id, month)
    INNER JOIN marts.user_month_versions AS now
        ON now.user_id = users.user_id AND now.month = users.month AND now.valid_to_utc IS NULL
    LEFT JOIN marts.user_month_versions AS before
        ON before.user_id = users.user_id AND before.month = users.month AND before.is_present
        AND before.valid_from_utc <= closed.at_utc AND coalesce(before.valid_to_utc > closed.at_utc, true)
    WHERE abs(closed.unexplained) >= 1
    QUALIFY bool_or(is_known) OVER (PARTITION BY closed.office_id, closed.month)
),

budgets_of_agents AS (
    SELECT
        budgets.office_id,
        budgets.month,
        coalesce(budgets.user_id, '') AS user_id,
        sum(amount) FILTER (
            valid_from_utc <= since.at_utc AND coalesce(valid_to_utc > since.at_utc, true)
        ) AS amount_before,
        sum(amount) FILTER (valid_to_utc IS NULL) AS amount,
        any_value(budgets.report) AS report,
        any_value(budgets._customer) AS customer_id
    FROM marts.budgets AS budgets
    CROSS JOIN since
    WHERE measure = 'commission'
    GROUP BY ALL
),

budget_months_asked AS (
    SELECT DISTINCT loads.report, loads.customer AS customer_id, unnest(loads.months) AS month
    FROM meta.loads AS loads
    INNER JOIN since ON loads.fetched_at_utc <= since.at_utc
    WHERE loads.status = 'loaded' AND loads.report IN (SELECT report FROM marts.budgets)
),

-- A month that was not asked for before, or of an office that was not known, is read for the first time, which is no news.
budgets_compared AS (
    SELECT *
    FROM budgets_of_agents
    WHERE amount_before IS DISTINCT FROM amount
        AND (
            (office_id, month) IN (SELECT (office_id, month) FROM budgets_of_agents WHERE amount_before IS NOT NULL)
            OR (
                (report, customer_id, month) IN (SELECT (report, customer_id, month) FROM budget_months_asked)
                AND office_id IN (SELECT office_id FROM months_known)
            )
        )
),

-- The changes of a year add up to that of the office's budget over the same months.
budgets_of_offices AS (
    SELECT
        changed.*,
        sum(all_of.amount_before) AS office_before,
        sum(all_of.amount) AS office_after
    FROM (
        SELECT
            office_id,
            min(budgets.month) AS month,
            max(budgets.month) AS until,
            bool_and(amount_before IS NULL) AS is_entered
        FROM budgets_compared AS budgets
        GROUP BY office_id, year(budgets.month)
    ) AS changed
    INNER JOIN budgets_of_agents AS all_of
        ON all_of.office_id = changed.office_id AND all_of.month BETWEEN changed.month AND changed.until
    GROUP BY ALL
),

years_entered AS (
    SELECT DISTINCT year(offices.month) AS entered_year
    FROM budgets_of_offices AS offices
    CROSS JOIN since
    WHERE offices.is_entered AND year(offices.month) > year(since.at_utc)
),

months_asked AS (
    SELECT year(month) AS asked_year, max(month) AS until
    FROM (
        SELECT unnest(months) AS month
        FROM meta.loads
        WHERE status = 'loaded' AND report IN (SELECT report FROM marts.budgets WHERE measure = 'commission')
    )
    GROUP BY ALL
),

years_budgeted AS (
    SELECT
        agents.office_id,
        make_date(entered_year, 1, 1) AS month,
        count(DISTINCT user_id) FILTER (year(agents.month) = entered_year) AS agent_count,
        count(DISTINCT user_id) FILTER (year(agents.month) < entered_year) AS agent_count_before,
        sum(amount) FILTER (year(agents.month) = entered_year) AS amount,
        sum(amount) FILTER (year(agents.month) < entered_year) AS amount_before
    FROM budgets_of_agents AS agents
    INNER JOIN years_entered ON year(agents.month) IN (entered_year - 1, entered_year)
    LEFT JOIN months_asked ON asked_year = entered_year
    WHERE agents.amount > 0 AND agents.user_id <> '' AND month(agents.month) <= coalesce(month(until), 12)
    GROUP BY ALL
),

last_month AS (
    SELECT month FROM marts.chain_month WHERE is_last_over
),

best_of_offices AS (
    SELECT
        users.office_id,
        users.user_id,
        any_value(users.user_label) AS agent,
        date_trunc('year', last_month.month)::DATE AS month,
        last_month.month AS until,
        sum(users.commission) AS commission
    FROM marts.user_month AS users
    INNER JOIN last_month
        ON users.month BETWEEN date_trunc('year', last_month.month) AND last_month.month
    GROUP BY users.office_id, users.user_id, last_month.month
    HAVING sum(users.commission) > 0
    QUALIFY rank() OVER (PARTITION BY users.office_id ORDER BY sum(users.commission) DESC) <= 3
),

last_listed AS (
    SELECT versions.estate_id, versions.contract_on, loads.landing, loads.sha256
    FROM marts.sale_versions AS versions
    INNER JOIN meta.loads AS loads ON loads.load_id = versions._load_id
    ANTI JOIN marts.sales AS sales ON sales.estate_id = versions.estate_id
    WHERE versions.is_present
    QUALIFY row_number() OVER (PARTITION BY versions.estate_id ORDER BY versions.version DESC) = 1
),

found AS (
    SELECT 'since' AS kind, at_utc FROM since
    UNION ALL BY NAME
    SELECT
        changed.kind,
        changed.at_utc,
        changed.office_id,
        changed.month,
        changed.estate_id,
        last_listed.contract_on,
        last_listed.landing,
        last_listed.sha256,
        sales.street_address AS home,
        coalesce(changed.estate_number, changed.estate_id) AS home_number,
        coalesce(changed.agents, together.agents, users.user_label, sales.responsible_user_name) AS agent,
        changed.other_month,
        changed.other_office_id,
        (changed.commission_before / (1 + declared.vat_rate))::DECIMAL(18, 4) AS amount_before,
        (changed.commission / (1 + declared.vat_rate))::DECIMAL(18, 4) AS amount,
        changed.is_part
    FROM (
        SELECT changed.*, coalesce(changed.kind <> 'new' AND shares.share < 0.999, false) AS is_part
        FROM sales_changed AS changed
        LEFT JOIN shares USING (estate_id, office_id)
        UNION ALL BY NAME
        SELECT * FROM new_sales_shared
    ) AS changed
    CROSS JOIN declared
    LEFT JOIN agents_of_sales AS together USING (estate_id)
    LEFT JOIN marts.sales AS sales USING (estate_id)
    LEFT JOIN marts.users AS users ON users.user_id = sales.responsible_user_id
    LEFT JOIN last_listed USING (estate_id)
    UNION ALL BY NAME
    SELECT
        'closed' AS kind,
        closed.at_utc,
        closed.office_id,
        closed.month,
        (closed.unexplained / (1 + declared.vat_rate))::DECIMAL(18, 4) AS unexplained,
        (closed.commission_before / (1 + declared.vat_rate))::DECIMAL(18, 4) AS amount_before,
        (closed.commission / (1 + declared.vat_rate))::DECIMAL(18, 4) AS amount,
        (agents.change / (1 + declared.vat_rate))::DECIMAL(18, 4) AS agents_change
    FROM closed_months_explained AS closed
    CROSS JOIN declared
    LEFT JOIN (
        SELECT office_id, month, sum(change) AS change FROM agents_of_closed_months GROUP BY ALL
    ) AS agents USING (office_id, month)
    UNION ALL BY NAME
    SELECT
        'work' AS kind,
        agents.office_id,
        agents.month,
        agents.agent,
        agents.noted_at_utc,
        agents.writings,
        agents.valuations,
        (agents.unsold_change / (1 + declared.vat_rate))::DECIMAL(18, 4) AS amount
    FROM agents_of_closed_months AS agents
    CROSS JOIN declared
    WHERE abs(agents.unsold_change) >= 1
    UNION ALL BY NAME
    SELECT
        'price' AS kind,
        now.office_id,
        now.month,
        now.estate_id,
        sales.street_address AS home,
        coalesce(now.estate_number, now.estate_id) AS home_number,
        before.final_price AS amount_before,
        now.final_price AS amount
    FROM marts.sale_versions AS now
    INNER JOIN sales_then AS before USING (estate_id, office_id, month)
    LEFT JOIN marts.sales AS sales USING (estate_id)
    WHERE now.valid_to_utc IS NULL
        AND now.is_present
        AND now.commission IS NOT DISTINCT FROM before.commission
        AND now.final_price <> before.final_price
    UNION ALL BY NAME
    SELECT
        'reason' AS kind,
        reasons.office_id,
        reasons.month,
        reasons.estate_id,
        last_listed.contract_on,
        last_listed.landing,
        last_listed.sha256,
        sales.street_address AS home,
        coalesce(reasons.estate_number, reasons.estate_id) AS home_number,
        reasons.kind_of_change,
        reasons.noted_at_utc,
        reasons.other_month,
        reasons.other_office_id,
        reasons.is_part,
        (reasons.effect / (1 + declared.vat_rate))::DECIMAL(18, 4) AS amount
    FROM reasons
    CROSS JOIN declared
    LEFT JOIN marts.sales AS sales USING (estate_id)
    LEFT JOIN last_listed USING (estate_id)
    UNION ALL BY NAME
    SELECT
        CASE WHEN offices.is_entered THEN 'entered' ELSE 'budget' END AS kind,
        agents.office_id,
        offices.month,
        offices.until,
        CASE WHEN agents.user_id <> '' THEN coalesce(users.user_label, agents.user_id) END AS agent,
        sum(agents.amount_before) AS amount_before,
        sum(agents.amount) AS amount,
        offices.office_before,
        offices.office_after
    FROM budgets_compared AS agents
    INNER JOIN budgets_of_offices AS offices
        ON offices.office_id = agents.office_id AND agents.month BETWEEN offices.month AND offices.until
    LEFT JOIN marts.users AS users USING (user_id)
    GROUP BY ALL
    HAVING coalesce(sum(agents.amount_before), 0) <> coalesce(sum(agents.amount), 0)
    UNION ALL BY NAME
    SELECT 'budgeted' AS kind, years_budgeted.*, months_asked.until
    FROM years_budgeted
    LEFT JOIN months_asked ON asked_year = year(years_budgeted.month)
    UNION ALL BY NAME
    SELECT
        'left' AS kind,
        best.* EXCLUDE (user_id, commission),
        (best.commission / (1 + declared.vat_rate))::DECIMAL(18, 4) AS amount
    FROM best_of_offices AS best
    INNER JOIN marts.users AS users USING (user_id)
    LEFT JOIN meta.clock AS clock ON true
    INNER JOIN since ON users.left_directory_on > local_day(since.at_utc, clock)
    CROSS JOIN declared
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
    found.estate_id,
    found.contract_on,
    found.landing,
    found.sha256,
    found.amount_before,
    found.amount,
    found.kind_of_change,
    found.noted_at_utc,
    found.other_month,
    coalesce(others.office_name, found.other_office_id) AS other_office,
    found.is_part,
    found.unexplained,
    found.agents_change,
    found.writings,
    found.valuations,
    found.office_before,
    found.office_after,
    found.agent_count,
    found.agent_count_before
FROM found
LEFT JOIN marts.offices AS offices USING (office_id)
LEFT JOIN marts.offices AS others ON others.office_id = found.other_office_id
ORDER BY found.kind, abs(coalesce(found.amount, 0) - coalesce(found.amount_before, 0)) DESC, found.office_id, found.home_number
