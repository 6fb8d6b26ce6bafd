-- Why did a month that was over change?
-- One row for each sale or agent that explains a part of a change in marts.month_changes. If a part remains
-- unexplained, it has a row too. The amounts of a change add up exactly to its difference.
-- The reasons are changes of sales and of agents. The first of the following groups whose amounts add up to the
-- difference gives the reasons:
-- 1. all changes noted between the last reading of the earlier total and the change of the month;
-- 2. all changes noted between the first reading of the earlier total and the next reading of their own report after
-- the change of the month;
-- 3. a single change, noted up to a week after the change of the month. If several single changes equal the
-- difference, none of them is a reason.
-- Groups 1 and 2 are each tried with the changes of sales alone, and then with those of sales and agents.
-- If no group adds up, all changes of group 1 are reasons, and the rest of the difference is unexplained.
-- A change of a sale or an agent explains at most one change of each measure.
-- Sales count at the offices of their agents by today's shares. A sale that is no longer listed, or that another
-- office lists now, counts whole where it was listed, because its shares there are not known any more. Any error from
-- this is in the unexplained rest.
-- Example: the commission of an office in May rose by 70 after May was over. Noted with it are a new sale of 100, half
-- of which is the share of an agent of another office, and writings of an agent of the office, worth 20. The reasons
-- are the sale with 50 and the writings with 20.
-- Key: office_id, month, measure, noted_at_utc, kind, estate_id, user_id
-- Columns:
--   noted_at_utc: when the change of the month was noted; joins marts.month_changes by office_id, month and measure
--   office_id: customer id of the office
--   office_name: name of the office
--   month: first day of the month
--   measure: commission, sold_total_price or sold_estate_parts
--   kind: for a sale, "sale new", "sale gone" (from this month and office) or "sale changed" (also if another office
--     lists the sale and this office shares it). For an agent, "writings" or "valuations"; "writings or valuations" if
--     both changed, or if it is not known which did. For the unexplained rest, "nobody" or "open". "nobody" means three
--     things: the sales list and the user report were read since; in both, the rest belongs to no sale and no agent;
--     and no other office has the opposite rest
--   amount: the part of the difference that the reason explains, or the unexplained rest; currency and tax basis as
--     in marts.month_changes
--   estate_id: id of the estate
--   street_address: street address of the estate, as last read; null for a sale that was gone before addresses were
--     stored
--   share: the part of the sale that counts at the office. Null in two cases: if it has changed; if it is not known, so
--     that the whole sale counts
--   other_office_id: for a sale that moved, the office that it came from or went to
--   other_month: for a sale that moved, the month that it came from or went to
--   user_id: id of the agent
--   user_name: name of the agent; two users may have the same name: group by user_id, and show the label of marts.users
--   writing_change: the change in the agent's number of writings; null if the number was not stored
--   valuation_change: the change in the agent's number of valuations; null if the number was not stored
--   reason_noted_at_utc: when the change of the sale or the agent was noted, or the latest of several changes
--   awaited_reports: for an unexplained rest, the reports that were not read since the change and may still explain it;
--     null if there are none
--   _customer: the customer whose answer showed the later total
--   _month: first day of the month of that answer
--   _load_id: the load of that answer; joins meta.loads
WITH loads_read AS (
    SELECT DISTINCT load_id, read_at_utc FROM staging.readings
),

-- Each change, with the reading that showed it, and the first and the last reading that showed the earlier total.
changes AS (
    SELECT
        changes.*,
        row_number() OVER (ORDER BY office_id, month, measure, noted_at_utc) AS change_id,
        lag(known_since_utc, 1, known_since_utc) OVER of_month AS reached_from_utc,
        lead(noted_at_utc) OVER of_month AS next_noted_at_utc,
        CASE measure WHEN 'sold_estate_parts' THEN 0.005 ELSE 1 END AS tolerance,
        coalesce(after.read_at_utc, noted_at_utc) AS shown_at_utc,
        coalesce(before.read_at_utc, known_since_utc) AS first_before_utc,
        (
            SELECT max(read_at_utc)
            FROM staging.readings
            WHERE report = 'commission_office' AND customer_id = changes._customer AND month = changes.month
                AND read_at_utc < coalesce(after.read_at_utc, changes.noted_at_utc)
        ) AS last_before_utc
    FROM marts.month_changes AS changes
    LEFT JOIN loads_read AS before ON before.load_id = changes.load_id_before
    LEFT JOIN loads_read AS after ON after.load_id = changes.load_id_after
    WINDOW of_month AS (PARTITION BY office_id, month, measure ORDER BY noted_at_utc)
),

-- Reports that may explain a change, with their first reading after the month was over and the first since the change.
reports_read AS (
    SELECT
        changes.change_id,
        reports.report,
        min(readings.read_at_utc) FILTER (local_time(readings.read_at_utc) >= changes.month + INTERVAL 1 MONTH) AS over_since_utc,
        min(readings.read_at_utc) FILTER (readings.read_at_utc >= changes.shown_at_utc) AS read_since_utc
    FROM changes
    CROSS JOIN (SELECT unnest(['sales', 'commission_user']) AS report) AS reports
    LEFT JOIN marts.office_sources AS sources
        ON sources.report = reports.report AND sources.office_id = changes.office_id AND sources.month = changes.month
    LEFT JOIN staging.readings AS readings
        ON readings.report = sources.report
        AND readings.customer_id = sources.customer_id
        AND readings.month = sources.month
    GROUP BY ALL
),

shares AS (
    SELECT estate_id, coalesce(user_office_id, office_id) AS office_id, sum(commission_share)::DECIMAL(19, 8) AS share
    FROM marts.sale_shares
    GROUP BY ALL
),

-- Each changed sale in two states, after and before the change, at its agents' offices. The earlier counts negative.
sale_states AS (
    SELECT
        states.* EXCLUDE (office_id),
        coalesce(shares.office_id, states.office_id) AS office_id,
        shares.share,
        direction * coalesce(shares.share, 1) AS part,
        bool_and(shares.share IS NOT NULL OR direction = 1 OR change = 'amount changed') OVER (
            PARTITION BY states.estate_id, noted_at_utc
        ) AS is_past_known
    FROM (
        SELECT *, 1 AS direction, commission_after AS commission, price_after AS price
        FROM marts.sale_changes
        WHERE is_restatement AND change NOT IN ('vanished', 'moved away')
        UNION ALL
        SELECT *, -1, commission_before, price_before
        FROM marts.sale_changes
        WHERE is_restatement AND change NOT IN ('appeared', 'moved here')
    ) AS states
    LEFT JOIN shares
        ON shares.estate_id = states.estate_id
        AND NOT (states.change = 'moved away' AND states.other_office_id <> states.office_id)
),

sales_changed AS (
    SELECT
        'sales' AS report,
        states.office_id,
        states.month,
        states.noted_at_utc,
        any_value(loads_read.read_at_utc) AS read_at_utc,
        states.estate_id,
        CASE
            WHEN min(direction) = 1 THEN 'sale new'
            WHEN max(direction) = -1 THEN 'sale gone'
            ELSE 'sale changed'
        END AS kind,
        CASE WHEN count(*) = count(share) AND min(share) = max(share) THEN min(share) END AS share,
        any_value(nullif(states.other_office_id, states.office_id)) AS other_office_id,
        any_value(nullif(states.other_month, states.month)) AS other_month,
        bool_and(is_past_known) AS is_past_known,
        sum(part * commission::DECIMAL(28, 4)) AS commission,
        sum(part * price::DECIMAL(28, 4)) AS price,
        sum(part) AS estate_parts
    FROM sale_states AS states
    LEFT JOIN loads_read ON loads_read.load_id = states.load_id_after
    GROUP BY states.office_id, states.month, states.noted_at_utc, states.estate_id
),

agent_totals AS (
    SELECT
        versions.user_id,
        versions.month,
        versions.version,
        users.office_id,
        versions.valid_from_utc AS noted_at_utc,
        versions.is_restatement,
        versions.writing_parts,
        versions.valuation_parts,
        total_of(versions.is_present, versions.sold_commission) AS sold_commission_then,
        total_of(versions.is_present, versions.commission) - sold_commission_then AS commission,
        total_of(versions.is_present, versions.sold_total_price) AS sold_price_then,
        total_of(versions.is_present, versions.sold_estate_parts) AS sold_parts_then
    FROM marts.user_month_versions AS versions
    INNER JOIN marts.user_month AS users USING (user_id, month)
),

-- The change of an agent's sales is not a reason, because the sales themselves are; it shows whether all sales are
-- known.
agents_changed AS (
    SELECT
        'commission_user' AS report,
        office_id,
        month,
        noted_at_utc,
        noted_at_utc AS read_at_utc,
        user_id,
        writing_parts - lag(writing_parts) OVER versions AS writing_change,
        valuation_parts - lag(valuation_parts) OVER versions AS valuation_change,
        CASE
            WHEN writing_change <> 0 AND valuation_change = 0 THEN 'writings'
            WHEN valuation_change <> 0 AND writing_change = 0 THEN 'valuations'
            ELSE 'writings or valuations'
        END AS kind,
        commission - lag(commission) OVER versions AS commission,
        0 AS price,
        0 AS estate_parts,
        sold_commission_then - lag(sold_commission_then) OVER versions AS sold_commission,
        sold_price_then - lag(sold_price_then) OVER versions AS sold_price,
        sold_parts_then - lag(sold_parts_then) OVER versions AS sold_parts
    FROM agent_totals
    WINDOW versions AS (PARTITION BY user_id, month ORDER BY version)
    QUALIFY is_restatement AND noted_at_utc > min(noted_at_utc) OVER (PARTITION BY office_id, month)
),

-- Changes of sales and agents that may be reasons, noted since the total before the earlier one was first read.
-- is_within: noted between the earlier and the later total.
-- is_recent: noted between the last reading of the earlier total and the later total.
-- is_near: is_within, or noted by the first reading of its report since the change of the month.
candidates AS (
    SELECT
        changes.change_id,
        changes.difference,
        changes.tolerance,
        changes.measure,
        noted_changes.* EXCLUDE (office_id, month, commission, price, estate_parts, sold_commission, sold_price, sold_parts),
        noted_changes.report = 'sales' AS is_sale,
        amount_of(changes.measure, noted_changes.commission, noted_changes.price, noted_changes.estate_parts)::DECIMAL(22, 8) AS amount,
        amount_of(changes.measure, noted_changes.sold_commission, noted_changes.sold_price, noted_changes.sold_parts)::DECIMAL(22, 8)
            AS amount_of_sales,
        noted_changes.noted_at_utc > changes.known_since_utc AND noted_changes.noted_at_utc <= changes.noted_at_utc AS is_within,
        is_within AND noted_changes.noted_at_utc > coalesce(changes.last_before_utc, changes.known_since_utc) AS is_recent,
        is_within OR coalesce(
            noted_changes.noted_at_utc > changes.noted_at_utc AND noted_changes.read_at_utc <= reports_read.read_since_utc, false
        ) AS is_near
    FROM changes
    INNER JOIN (
        SELECT *, row_number() OVER (ORDER BY noted_at_utc, estate_id, user_id, office_id, month, kind) AS noted_change_id
        FROM (FROM sales_changed UNION ALL BY NAME FROM agents_changed)
    ) AS noted_changes USING (office_id, month)
    INNER JOIN reports_read USING (change_id, report)
    WHERE noted_changes.noted_at_utc >= changes.reached_from_utc
        AND (is_near OR noted_changes.noted_at_utc <= least(changes.next_noted_at_utc, changes.noted_at_utc + INTERVAL 7 DAY))
        AND (is_sale OR noted_changes.noted_at_utc > reports_read.over_since_utc)
),

-- fit: 1 to 4 for the first group whose amounts add up to the difference, 5 for a candidate that equals it. If there is
-- neither, all recent candidates are taken (6), because they came between the two readings.
rated_candidates AS (
    SELECT
        *,
        CASE
            WHEN is_recent AND is_sale AND abs(difference - sum(amount) FILTER (is_recent AND is_sale) OVER of_change) < tolerance
                THEN 1
            WHEN is_recent AND abs(difference - sum(amount) FILTER (is_recent) OVER of_change) < tolerance THEN 2
            WHEN is_near AND is_sale AND abs(difference - sum(amount) FILTER (is_near AND is_sale) OVER of_change) < tolerance
                THEN 3
            WHEN is_near AND abs(difference - sum(amount) FILTER (is_near) OVER of_change) < tolerance THEN 4
            WHEN abs(difference - amount) < tolerance THEN 5
            WHEN is_recent THEN 6
        END AS fit
    FROM candidates
    WHERE amount <> 0 AND (is_sale OR abs(amount) >= tolerance) -- an agent's smaller amount may be rounding
    WINDOW of_change AS (PARTITION BY change_id)
),

chosen_candidates AS (
    SELECT *, min(fit) OVER (PARTITION BY change_id) AS best
    FROM rated_candidates
    QUALIFY fit = best AND (best <> 5 OR count(*) OVER (PARTITION BY change_id, fit) = 1)
),

reasons AS (
    SELECT
        change_id,
        arg_max(kind, noted_at_utc) AS kind,
        sum(amount)::DECIMAL(22, 8) AS amount,
        estate_id,
        arg_max(share, noted_at_utc) AS share,
        bool_and(is_past_known) AS is_past_known,
        arg_max(other_office_id, noted_at_utc) AS other_office_id,
        arg_max(other_month, noted_at_utc) AS other_month,
        user_id,
        sum(writing_change)::DECIMAL(19, 8) AS writing_change,
        sum(valuation_change)::DECIMAL(19, 8) AS valuation_change,
        max(noted_at_utc) AS reason_noted_at_utc
    FROM (
        FROM chosen_candidates
        QUALIFY row_number() OVER (PARTITION BY noted_change_id, measure ORDER BY best, is_within DESC, change_id) = 1
    )
    GROUP BY change_id, estate_id, user_id
    HAVING sum(amount) <> 0
),

explained_sums AS (
    SELECT
        change_id,
        sum(amount) AS explained,
        sum(CASE WHEN estate_id IS NOT NULL THEN amount ELSE 0 END) AS explained_by_sales,
        bool_or(amount > 0) FILTER (NOT is_past_known) AS may_be_less,
        bool_or(amount < 0) FILTER (NOT is_past_known) AS may_be_more
    FROM reasons
    GROUP BY ALL
),

-- By how much the agents' sales changed by the user report, near the change of the month.
agents_summed AS (
    SELECT change_id, sum(amount_of_sales) AS amount_of_sales
    FROM candidates
    WHERE is_near AND NOT is_sale
    GROUP BY ALL
),

rests AS (
    SELECT
        change_id,
        changes.month,
        changes.measure,
        changes.noted_at_utc,
        changes.tolerance,
        (changes.difference - coalesce(any_value(explained_sums.explained), 0))::DECIMAL(22, 8) AS amount,
        count(explained_sums.explained) > 0 AND abs(amount) < changes.tolerance AS is_rounding,
        list(reports_read.report ORDER BY reports_read.report DESC) FILTER (reports_read.read_since_utc IS NULL)
            AS awaited_reports,
        awaited_reports IS NULL
            AND coalesce(bool_and(reports_read.over_since_utc <= changes.first_before_utc), false)
            AND abs(
                coalesce(any_value(agents_summed.amount_of_sales), 0) - coalesce(any_value(explained_sums.explained_by_sales), 0)
            ) < changes.tolerance
            -- the office's share of a sale may have been larger or smaller than assumed
            AND CASE WHEN amount < 0 THEN any_value(explained_sums.may_be_less) ELSE any_value(explained_sums.may_be_more) END IS NOT TRUE
            AS is_nobodys
    FROM changes
    INNER JOIN reports_read USING (change_id)
    LEFT JOIN explained_sums USING (change_id)
    LEFT JOIN agents_summed USING (change_id)
    GROUP BY
        change_id, changes.month, changes.measure, changes.noted_at_utc, changes.tolerance, changes.difference,
        changes.first_before_utc
)

SELECT
    changes.noted_at_utc,
    changes.office_id,
    changes.office_name,
    changes.month,
    changes.measure,
    reasons.kind,
    reasons.amount,
    reasons.estate_id,
    homes.street_address,
    reasons.share,
    reasons.other_office_id,
    reasons.other_month,
    reasons.user_id,
    users.user_name,
    reasons.writing_change,
    reasons.valuation_change,
    reasons.reason_noted_at_utc,
    reasons.awaited_reports,
    changes._customer,
    changes._month,
    changes._load_id
FROM (
    -- Shares and the amounts of sales are rounded, so a rest below the tolerance is added to the largest reason.
    SELECT reasons.* REPLACE (
        (reasons.amount + CASE
            WHEN rests.is_rounding
                AND row_number() OVER (PARTITION BY change_id ORDER BY abs(reasons.amount) DESC, estate_id, user_id) = 1
                THEN rests.amount
            ELSE 0
        END)::DECIMAL(22, 8) AS amount
    )
    FROM reasons
    INNER JOIN rests USING (change_id)
    UNION ALL BY NAME
    -- An amount that one office gained and another lost may come from an agent who now counts at another office.
    SELECT
        change_id,
        CASE
            WHEN is_nobodys AND NOT EXISTS (
                FROM rests AS other_rests
                WHERE (other_rests.month, other_rests.measure, other_rests.noted_at_utc) = (rests.month, rests.measure, rests.noted_at_utc)
                    AND abs(other_rests.amount + rests.amount) < rests.tolerance
                    AND abs(rests.amount) >= rests.tolerance
            ) THEN 'nobody'
            ELSE 'open'
        END AS kind,
        amount,
        awaited_reports
    FROM rests
    WHERE NOT is_rounding AND amount <> 0
) AS reasons
INNER JOIN changes USING (change_id)
LEFT JOIN (
    SELECT estate_id, arg_max(street_address, version) AS street_address FROM marts.sale_versions GROUP BY ALL
) AS homes USING (estate_id)
LEFT JOIN marts.users AS users ON users.user_id = reasons.user_id
ORDER BY changes.change_id, abs(reasons.amount) DESC, reasons.kind, reasons.estate_id, reasons.user_id
