-- Why did a month that was over change?
-- One row per row of marts.month_changes and sale or agent that explains a part of it, and one for what is left.
-- The amounts of a change add up to its difference, exactly.
-- A sale or an agent is a reason by a change of its own, noted since the office report last had the earlier total; or, where the
-- amounts fit, noted since it first had it, or after the change in the next reading or within a week. Each is the reason of
-- one change; of several of which each would do alone none is stated.
-- What one run read is equally new. Sales count at the offices of their agents by their shares, as in the office report. Who
-- shared in a sale as it was is known where an answer that is still held shows it; else a sale that is listed no more, or by
-- another office, counts whole where it was listed. What offices then have too much and too little, in the same month and
-- night and of the same sale, is the sale's at each of them; what is left of it is open.
-- Key: office_id, month, measure, noted_at_utc, kind, estate_id, user_id
-- Columns:
--   noted_at_utc: when the change of the month was noted; joins marts.month_changes by office_id, month and measure
--   office_id: customer id of the office
--   office_name: name of the office
--   month: first day of the month
--   measure: commission, sold_total_price or sold_estate_parts
--   kind: sale new, sale gone (from this month and office), sale changed (also one that the office had a part of when
--     another listed it); writings, valuations, or writings or valuations of an agent, where both changed or neither is
--     known; of what is left open, where not known, or nobody, where it concerns no agent's and no sale's commission, as far
--     as reports say that were read no earlier than the change, and no other office has the opposite
--   amount: the part of the difference that it explains, or what is left of it; currency and tax basis as the measure
--   estate_id: id of the estate
--   street_address: address of the home, as last read
--   share: the part of the sale that counts here; null where that was another before, or is not known, so that the whole was
--     taken
--   other_office_id: of a sale that moved: where it came from, or went to
--   other_month: of a sale that moved: the month it came from, or went to
--   user_id: id of the agent
--   user_name: name of the agent; two may have the same, so group by user_id: marts.users has a label for each
--   writing_change: by how many writings of the agent changed; null where that was not kept
--   valuation_change: the same of valuations
--   reason_noted_at_utc: when the change of the sale or the agent was noted, the last of several
--   awaited_reports: of what is open: the reports that were last read before the change, and will tell; null where all were
--     read since and do not
--   _customer: the customer whose answer showed the later total
--   _month: month of that answer
--   _load_id: load of that answer; joins meta.loads
WITH changes AS (
    SELECT
        *,
        row_number() OVER (ORDER BY office_id, month, measure, noted_at_utc) AS change_id,
        lag(known_since_utc, 1, known_since_utc) OVER of_month AS reached_from_utc,
        lead(noted_at_utc) OVER of_month AS next_noted_at_utc,
        CASE measure WHEN 'sold_estate_parts' THEN 0.005 ELSE 1 END AS tolerance
    FROM marts.month_changes
    WINDOW of_month AS (PARTITION BY office_id, month, measure ORDER BY noted_at_utc)
),

loads_read AS (
    SELECT DISTINCT load_id, read_at_utc FROM staging.readings
),

-- When the office report showed the change, and when it first and last showed the total before.
changes_read AS (
    SELECT
        changes.change_id,
        coalesce(shown.read_at_utc, changes.noted_at_utc) AS read_at_utc,
        coalesce(before.read_at_utc, changes.known_since_utc) AS first_before_utc,
        max(readings.read_at_utc) FILTER (readings.read_at_utc < coalesce(shown.read_at_utc, changes.noted_at_utc))
            AS last_before_utc
    FROM changes
    LEFT JOIN loads_read AS before ON before.load_id = changes.load_id_before
    LEFT JOIN loads_read AS shown ON shown.load_id = changes.load_id_after
    LEFT JOIN staging.readings AS readings
        ON readings.report = 'commission_office'
        AND readings.customer_id = changes._customer
        AND readings.month = changes.month
    GROUP BY ALL
),

-- Reports that may hold a reason: when each was first read as over, and first read no earlier than the change.
reports_read AS (
    SELECT
        changes.change_id,
        reports.report,
        min(readings.read_at_utc) FILTER (readings.read_at_utc >= changes.month + INTERVAL 1 MONTH) AS over_since_utc,
        min(readings.read_at_utc) FILTER (readings.read_at_utc >= changes_read.read_at_utc) AS read_since_utc
    FROM changes
    INNER JOIN changes_read USING (change_id)
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

-- A sale before and after a change, each state with its sign.
sale_states AS (
    SELECT *, 1 AS direction, commission_after AS commission, price_after AS price
    FROM marts.sale_changes
    WHERE is_restatement AND change IN ('appeared', 'moved here', 'amount changed')
    UNION ALL
    SELECT *, -1, commission_before, price_before
    FROM marts.sale_changes
    WHERE is_restatement AND change IN ('vanished', 'moved away', 'amount changed')
),

-- Who shared in a sale as it was, where an answer that nobody refreshed since shows it so.
rows_before AS (
    SELECT states.estate_id, states.noted_at_utc, states.office_id, max(estates.landed_row) AS landed_row
    FROM sale_states AS states
    INNER JOIN staging.sales_estates AS estates
        ON estates.estate_id = states.estate_id
        AND estates.office_id = states.office_id
        AND estates.month = states.month
        AND estates.commission IS NOT DISTINCT FROM states.commission
        AND estates.final_price IS NOT DISTINCT FROM states.price
    WHERE states.direction = -1
    GROUP BY ALL
),

shares_before AS (
    SELECT
        before.estate_id,
        before.noted_at_utc,
        coalesce(agents.user_office_id, before.office_id) AS office_id,
        sum(agents.commission_share)::DECIMAL(19, 8) AS share
    FROM rows_before AS before
    INNER JOIN staging.sales_agents AS agents ON agents.landed_estate = before.landed_row
    GROUP BY ALL
),

sale_states_shared AS (
    SELECT states.*, before.office_id AS earning_office_id, before.share
    FROM sale_states AS states
    INNER JOIN shares_before AS before USING (estate_id, noted_at_utc)
    WHERE states.direction = -1
    UNION ALL
    SELECT states.*, coalesce(shares.office_id, states.office_id), shares.share
    FROM sale_states AS states
    LEFT JOIN shares
        ON shares.estate_id = states.estate_id
        AND NOT (states.change = 'moved away' AND states.other_office_id <> states.office_id)
    WHERE states.direction = 1 OR NOT EXISTS (
        FROM shares_before AS before
        WHERE (before.estate_id, before.noted_at_utc) = (states.estate_id, states.noted_at_utc)
    )
),

sales_changed AS (
    SELECT
        'sales' AS report,
        states.earning_office_id AS office_id,
        states.month,
        states.noted_at_utc,
        any_value(loads_read.read_at_utc) AS read_at_utc,
        states.estate_id,
        CASE
            WHEN min(states.direction) = 1 THEN 'sale new'
            WHEN max(states.direction) = -1 THEN 'sale gone'
            ELSE 'sale changed'
        END AS kind,
        bool_and(states.share IS NOT NULL) AS is_share_known,
        CASE
            WHEN bool_and(states.share IS NOT NULL) AND min(states.share) = max(states.share) THEN min(states.share)
        END AS share,
        any_value(nullif(states.other_office_id, states.earning_office_id)) AS other_office_id,
        any_value(nullif(states.other_month, states.month)) AS other_month,
        bool_and(states.is_past_known) AS is_past_known,
        unnest([
            {'measure': 'commission', 'amount': sum(states.part * states.commission::DECIMAL(28, 4))},
            {'measure': 'sold_total_price', 'amount': sum(states.part * states.price::DECIMAL(28, 4))},
            {'measure': 'sold_estate_parts', 'amount': sum(states.part)}
        ], recursive := true)
    FROM (
        SELECT
            *,
            direction * coalesce(share, 1) AS part,
            bool_and(share IS NOT NULL OR direction = 1 OR change = 'amount changed') OVER (
                PARTITION BY estate_id, noted_at_utc
            ) AS is_past_known
        FROM sale_states_shared
    ) AS states
    LEFT JOIN loads_read ON loads_read.load_id = states.load_id_after
    GROUP BY states.earning_office_id, states.month, states.noted_at_utc, states.estate_id
),

users_compared AS (
    SELECT
        now.user_id,
        now.month,
        known.office_id,
        now.valid_from_utc AS noted_at_utc,
        now.is_restatement,
        min(now.valid_from_utc) OVER (PARTITION BY known.office_id, now.month) AS known_since_utc,
        total_of(now.is_present, now.commission) AS commission,
        total_of(now.is_present, now.sold_commission) AS sold_commission,
        total_of(now.is_present, now.sold_total_price) AS price,
        total_of(now.is_present, now.sold_estate_parts) AS estate_parts,
        total_of(lag(now.is_present) OVER versions, lag(now.commission) OVER versions) AS commission_before,
        total_of(lag(now.is_present) OVER versions, lag(now.sold_commission) OVER versions) AS sold_commission_before,
        total_of(lag(now.is_present) OVER versions, lag(now.sold_total_price) OVER versions) AS price_before,
        total_of(lag(now.is_present) OVER versions, lag(now.sold_estate_parts) OVER versions) AS estate_parts_before,
        now.writing_parts - lag(now.writing_parts) OVER versions AS writing_change,
        now.valuation_parts - lag(now.valuation_parts) OVER versions AS valuation_change
    FROM marts.user_month_versions AS now
    INNER JOIN marts.user_month AS known USING (user_id, month)
    WINDOW versions AS (PARTITION BY now.user_id, now.month ORDER BY now.version)
),

-- What an agent's commission of sales changed by is no reason: it is the sales' own, and shows whether they are all known.
agents_changed AS (
    SELECT
        'commission_user' AS report,
        office_id,
        month,
        noted_at_utc,
        noted_at_utc AS read_at_utc,
        user_id,
        CASE
            WHEN writing_change <> 0 AND valuation_change = 0 THEN 'writings'
            WHEN valuation_change <> 0 AND writing_change = 0 THEN 'valuations'
            ELSE 'writings or valuations'
        END AS kind,
        writing_change,
        valuation_change,
        unnest([
            {
                'measure': 'commission',
                'amount': (commission - sold_commission - commission_before + sold_commission_before)::DECIMAL(22, 8),
                'amount_of_sales': (sold_commission - sold_commission_before)::DECIMAL(22, 8)
            },
            {'measure': 'sold_total_price', 'amount': 0, 'amount_of_sales': (price - price_before)::DECIMAL(22, 8)},
            {
                'measure': 'sold_estate_parts',
                'amount': 0,
                'amount_of_sales': (estate_parts - estate_parts_before)::DECIMAL(22, 8)
            }
        ], recursive := true)
    FROM users_compared
    WHERE is_restatement AND noted_at_utc > known_since_utc
),

-- Noted between the two totals (of these recent what came after the last reading of the earlier one, which did not show it),
-- in the first reading of its report after the change, or at another time close to it.
candidates AS (
    SELECT
        changes.change_id,
        changes.difference,
        changes.tolerance,
        found.* EXCLUDE (office_id, month, measure),
        found.report = 'sales' AS is_sale,
        found.noted_at_utc > changes.known_since_utc AND found.noted_at_utc <= changes.noted_at_utc AS is_within,
        is_within AND found.noted_at_utc > coalesce(changes_read.last_before_utc, changes.known_since_utc) AS is_recent,
        is_within OR coalesce(
            found.noted_at_utc > changes.noted_at_utc AND found.read_at_utc <= reports_read.read_since_utc, false
        ) AS is_near
    FROM changes
    INNER JOIN changes_read USING (change_id)
    INNER JOIN (
        SELECT *, row_number() OVER (ORDER BY noted_at_utc, estate_id, user_id, office_id, month, kind, measure) AS found_id
        FROM (SELECT * FROM sales_changed UNION ALL BY NAME SELECT * FROM agents_changed)
    ) AS found USING (office_id, month, measure)
    INNER JOIN reports_read USING (change_id, report)
    WHERE found.noted_at_utc >= changes.reached_from_utc
        AND (
            is_near
            OR found.noted_at_utc <= least(changes.next_noted_at_utc, changes.noted_at_utc + INTERVAL 7 DAY)
        )
        AND (is_sale OR found.noted_at_utc > reports_read.over_since_utc)
),

summed AS (
    SELECT
        *,
        coalesce(sum(amount) FILTER (is_recent AND is_sale) OVER of_change, 0) AS recent_sales,
        coalesce(sum(amount) FILTER (is_recent) OVER of_change, 0) AS recent,
        coalesce(sum(amount) FILTER (is_near AND is_sale) OVER of_change, 0) AS near_sales,
        coalesce(sum(amount) FILTER (is_near) OVER of_change, 0) AS near
    FROM candidates
    WHERE amount <> 0 AND (is_sale OR abs(amount) >= tolerance) -- commission of sales is an average, rounded, times parts
    WINDOW of_change AS (PARTITION BY change_id)
),

-- Whose amounts add up to the difference, the likeliest first; else all that is recent, as both totals were read around it.
rated AS (
    SELECT
        *,
        CASE
            WHEN is_recent AND is_sale AND abs(difference - recent_sales) < tolerance THEN 1
            WHEN is_recent AND abs(difference - recent) < tolerance THEN 2
            WHEN is_near AND is_sale AND abs(difference - near_sales) < tolerance THEN 3
            WHEN is_near AND abs(difference - near) < tolerance THEN 4
            WHEN is_near AND abs(difference - amount) < tolerance THEN 5
            WHEN abs(difference - amount) < tolerance THEN 6
            WHEN NOT is_recent AND abs(difference - recent - amount) < tolerance THEN 7
            WHEN is_recent THEN 8
        END AS fit
    FROM summed
),

-- Of several that would each do alone none is known to be the one.
chosen AS (
    SELECT *, min(fit) OVER (PARTITION BY change_id) AS best
    FROM rated
    QUALIFY CASE
        WHEN best IN (5, 6, 7) THEN (fit = best AND count(*) OVER (PARTITION BY change_id, fit) = 1) OR (best = 7 AND is_recent)
        ELSE fit = best
    END
),

reasons_found AS (
    SELECT
        change_id,
        arg_max(kind, noted_at_utc) AS kind,
        sum(amount)::DECIMAL(22, 8) AS amount,
        estate_id,
        arg_max(share, noted_at_utc) AS share,
        bool_or(is_share_known) AS is_share_known,
        bool_and(is_past_known) AS is_past_known,
        arg_max(other_office_id, noted_at_utc) AS other_office_id,
        arg_max(other_month, noted_at_utc) AS other_month,
        user_id,
        sum(writing_change)::DECIMAL(19, 8) AS writing_change,
        sum(valuation_change)::DECIMAL(19, 8) AS valuation_change,
        max(noted_at_utc) AS reason_noted_at_utc
    FROM (
        SELECT * FROM chosen
        QUALIFY row_number() OVER (PARTITION BY found_id ORDER BY best, is_within DESC, change_id) = 1
    )
    GROUP BY change_id, estate_id, user_id
    HAVING sum(amount) <> 0
),

rests AS (
    SELECT changes.*, changes.difference - coalesce(found.amount, 0) AS rest
    FROM changes
    LEFT JOIN (SELECT change_id, sum(amount) AS amount FROM reasons_found GROUP BY ALL) AS found USING (change_id)
    WHERE abs(rest) >= changes.tolerance
),

-- A sale whose shares changed brings other prices and parts too, though it has the same ones.
sales_found AS (
    SELECT
        changes.office_id,
        changes.month,
        changes.noted_at_utc,
        found.estate_id,
        any_value(found.kind) AS kind,
        bool_or(found.is_share_known) AS is_share_known,
        bool_and(found.is_past_known) AS is_past_known,
        sign(sum(found.amount)) AS direction,
        max(found.reason_noted_at_utc) AS reason_noted_at_utc
    FROM reasons_found AS found
    INNER JOIN changes USING (change_id)
    WHERE found.estate_id IS NOT NULL
    GROUP BY ALL
),

-- Where a sale is known that leaves a rest; one that was counted whole cannot have been more, and of one that is new and
-- was another office's an office may have had a part.
sales_with_rest AS (
    SELECT
        found.estate_id,
        CASE
            WHEN found.is_past_known OR found.kind <> 'sale new' OR sign(rests.rest) = found.direction THEN found.kind
            ELSE 'sale changed'
        END AS kind,
        found.reason_noted_at_utc,
        found.is_share_known,
        rests.*
    FROM sales_found AS found
    INNER JOIN rests USING (office_id, month, noted_at_utc)
    WHERE found.is_share_known OR sign(rests.rest) <> found.direction
),

-- Changes of several offices that may be of one sale: all have it, or one had it and nobody knows who shared in it.
sharing AS (
    SELECT * EXCLUDE (is_share_known) FROM sales_with_rest
    UNION ALL
    SELECT here.estate_id, here.kind, here.reason_noted_at_utc, others.*
    FROM sales_with_rest AS here
    INNER JOIN rests AS others
        ON others.month = here.month
        AND others.measure = here.measure
        AND others.noted_at_utc = here.noted_at_utc
        AND abs(others.rest + here.rest) < here.tolerance
    ANTI JOIN sales_with_rest AS theirs ON theirs.estate_id = here.estate_id AND theirs.change_id = others.change_id
    WHERE NOT here.is_share_known
),

sharing_evenly AS (
    SELECT *
    FROM sharing
    QUALIFY abs(sum(rest) OVER (PARTITION BY estate_id, month, measure, noted_at_utc)) < tolerance
),

-- A sale that nobody knows the shares of is of the offices whose changes of one night come to the whole of it.
sharing_whole AS (
    SELECT found.estate_id, found.kind, found.reason_noted_at_utc, rests.*
    FROM (
        SELECT DISTINCT
            candidates.estate_id, candidates.kind, candidates.noted_at_utc AS reason_noted_at_utc, candidates.amount,
            changes.month, changes.measure, changes.noted_at_utc
        FROM candidates
        INNER JOIN changes USING (change_id)
        WHERE candidates.is_sale AND candidates.is_near AND NOT candidates.is_share_known AND candidates.amount <> 0
    ) AS found
    ANTI JOIN sales_found USING (estate_id, month, noted_at_utc)
    INNER JOIN rests ON rests.month = found.month
        AND rests.measure = found.measure
        AND rests.noted_at_utc = found.noted_at_utc
        AND sign(rests.rest) = sign(found.amount)
    WINDOW of_sale AS (PARTITION BY found.estate_id, rests.month, rests.measure, rests.noted_at_utc)
    QUALIFY abs(sum(rests.rest) OVER of_sale - found.amount) < tolerance AND count(*) OVER of_sale > 1
),

shared_out AS (
    SELECT *
    FROM (
        SELECT *, count(*) OVER (PARTITION BY change_id) = 1 AS is_of_one_sale
        FROM (SELECT * FROM sharing_evenly UNION ALL SELECT * FROM sharing_whole)
    )
    QUALIFY bool_and(is_of_one_sale) OVER (PARTITION BY estate_id, month, measure, noted_at_utc)
),

reasons AS (
    SELECT
        change_id,
        min(kind) AS kind, -- changed before gone and new: what is shared out says more
        sum(amount)::DECIMAL(22, 8) AS amount,
        estate_id,
        CASE WHEN count(*) = 1 THEN any_value(share) END AS share,
        any_value(is_past_known) AS is_past_known,
        any_value(other_office_id) AS other_office_id,
        any_value(other_month) AS other_month,
        user_id,
        any_value(writing_change) AS writing_change,
        any_value(valuation_change) AS valuation_change,
        max(reason_noted_at_utc) AS reason_noted_at_utc
    FROM (
        SELECT * FROM reasons_found
        UNION ALL BY NAME
        SELECT change_id, kind, rest AS amount, estate_id, reason_noted_at_utc FROM shared_out
    )
    GROUP BY change_id, estate_id, user_id
    HAVING sum(amount) <> 0
),

explained AS (
    SELECT
        change_id,
        sum(amount) AS explained,
        sum(CASE WHEN estate_id IS NOT NULL THEN amount ELSE 0 END) AS explained_by_sales,
        bool_or(amount > 0) FILTER (NOT is_past_known) AS may_be_less,
        bool_or(amount < 0) FILTER (NOT is_past_known) AS may_be_more
    FROM reasons
    GROUP BY ALL
),

-- What the agents' totals of sales changed by near the change.
agents_summed AS (
    SELECT change_id, sum(amount_of_sales) AS amount_of_sales
    FROM candidates
    WHERE is_near AND NOT is_sale
    GROUP BY ALL
),

left_over AS (
    SELECT
        changes.change_id,
        (changes.difference - coalesce(any_value(explained.explained), 0))::DECIMAL(22, 8) AS amount,
        count(explained.explained) > 0 AND abs(amount) < changes.tolerance AS is_rounding,
        list(reports_read.report ORDER BY reports_read.report DESC) FILTER (reports_read.read_since_utc IS NULL)
            AS awaited_reports,
        CASE
            WHEN awaited_reports IS NULL
                AND bool_and(reports_read.over_since_utc <= changes_read.first_before_utc)
                AND abs(
                    coalesce(any_value(agents_summed.amount_of_sales), 0)
                    - coalesce(any_value(explained.explained_by_sales), 0)
                ) < changes.tolerance
                AND CASE
                    WHEN amount < 0 THEN any_value(explained.may_be_less) ELSE any_value(explained.may_be_more)
                END IS NOT TRUE -- an office may have had another part of a sale than was taken
                THEN 'nobody'
            ELSE 'open'
        END AS kind
    FROM changes
    INNER JOIN changes_read USING (change_id)
    INNER JOIN reports_read USING (change_id)
    LEFT JOIN explained USING (change_id)
    LEFT JOIN agents_summed USING (change_id)
    GROUP BY changes.change_id, changes.difference, changes.tolerance
),

-- What is too much at one office and missing at another may be an agent's who counts at the other now.
moved_over AS (
    SELECT DISTINCT here.change_id
    FROM (SELECT * FROM left_over INNER JOIN changes USING (change_id)) AS here
    INNER JOIN (SELECT * FROM left_over INNER JOIN changes USING (change_id)) AS there USING (month, measure, noted_at_utc)
    WHERE abs(here.amount) >= here.tolerance AND abs(here.amount + there.amount) < here.tolerance
),

-- Shares of sales are rounded, and so is what they explain: what is missing for that is the largest reason's.
reasons_rounded AS (
    SELECT reasons.* REPLACE (
        CASE
            WHEN left_over.is_rounding
                AND row_number() OVER (
                    PARTITION BY change_id ORDER BY abs(reasons.amount) DESC, reasons.estate_id, reasons.user_id
                ) = 1
                THEN (reasons.amount + left_over.amount)::DECIMAL(22, 8)
            ELSE reasons.amount
        END AS amount
    )
    FROM reasons
    INNER JOIN left_over USING (change_id)
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
    SELECT * FROM reasons_rounded
    UNION ALL BY NAME
    SELECT change_id, CASE WHEN moved_over.change_id IS NULL THEN kind ELSE 'open' END AS kind, amount, awaited_reports
    FROM left_over
    LEFT JOIN moved_over USING (change_id)
    WHERE NOT is_rounding AND amount <> 0
) AS reasons
INNER JOIN changes USING (change_id)
LEFT JOIN (
    SELECT estate_id, arg_max(street_address, version) AS street_address FROM marts.sale_versions GROUP BY ALL
) AS homes USING (estate_id)
LEFT JOIN marts.users AS users ON users.user_id = reasons.user_id
ORDER BY changes.change_id, abs(reasons.amount) DESC, reasons.kind, reasons.estate_id, reasons.user_id
