-- Whose answer counts for a user's commission?
-- One row per user, month and customer whose user report counts; several rows are added up.
-- If two customers answer for the same office, one of them counts: the newer one or, if both were read in one run, the
-- one with more offices. A customer with fewer offices counts only for users whom all evidence of the month places at
-- these offices (staging.user_offices), because it has only a part of other users' numbers. A customer that is no
-- longer requested, or not found, counts only for users whom no other customer has.
-- Customers that share no office of the user are added up: each is assumed to report the amounts earned there. A check
-- names users with equal amounts in two answers.
-- Key: user_id, month, customer_id
-- Columns:
--   user_id: id of the user
--   month: first day of the month
--   customer_id: the customer whose user report counts
--   lacks_amount: whether the user's row has no commission although an earlier answer had one that was not 0; false if
--     rows that never had a number show that the report writes null for 0
--   is_partial: whether something of the user may be missing, although the row is there: the report was cut short, is
--     unfinished or lacks the amount
WITH loaded_months AS (
    SELECT * FROM staging.months WHERE report = 'commission_user'
),

offices_with_entries AS (
    SELECT customer_id, month, list(office_id) FILTER (has_entries) AS offices
    FROM staging.office_answers
    WHERE report = 'commission_user'
    GROUP BY ALL
),

offices_ever AS (
    SELECT customer_id, list(office_id) AS offices
    FROM staging.customer_offices
    GROUP BY ALL
),

pairs AS (
    SELECT
        customer_pairs.customer_id AS greater_id,
        customer_pairs.yielding_customer_id AS lesser_id,
        greater.month,
        (lesser.is_refreshed, lesser.run_read_at_utc) > (greater.is_refreshed, greater.run_read_at_utc)
            AS is_lesser_newer,
        lesser.is_refreshed AS is_lesser_refreshed,
        greater.is_refreshed AS is_greater_refreshed,
        list_has_all(coalesce(greater_months.offices, []), lesser_offices.offices) AS has_all_offices,
        greater_offices.offices AS greater_offices,
        lesser_offices.offices AS lesser_offices
    FROM marts.customer_overlaps AS customer_pairs
    INNER JOIN loaded_months AS greater ON greater.customer_id = customer_pairs.customer_id
    INNER JOIN loaded_months AS lesser ON lesser.customer_id = customer_pairs.yielding_customer_id AND lesser.month = greater.month
    INNER JOIN offices_ever AS lesser_offices ON lesser_offices.customer_id = lesser.customer_id
    INNER JOIN offices_ever AS greater_offices ON greater_offices.customer_id = greater.customer_id
    LEFT JOIN offices_with_entries AS greater_months
        ON greater_months.customer_id = greater.customer_id AND greater_months.month = greater.month
),

users_in_question AS (
    SELECT pairs.greater_id, pairs.lesser_id, pairs.month, earners.user_id
    FROM pairs
    INNER JOIN staging.commission_user AS earners
        ON earners.customer_id = pairs.lesser_id AND earners.month = pairs.month
    UNION
    SELECT pairs.greater_id, pairs.lesser_id, pairs.month, earners.user_id
    FROM pairs
    INNER JOIN staging.commission_user AS earners
        ON earners.customer_id = pairs.greater_id AND earners.month = pairs.month
    WHERE pairs.is_lesser_newer
),

compared AS (
    SELECT
        pairs.*,
        users.user_id,
        greater_earners.user_id IS NOT NULL AS has_greater,
        lesser_earners.user_id IS NOT NULL AS has_lesser,
        coalesce(string_split(workplaces.named_offices, ', '), []) AS trace_offices,
        trace_offices <> [] AND list_has_all(lesser_offices, trace_offices) AS is_lesser_whole,
        is_lesser_newer AND (is_lesser_whole OR (is_lesser_refreshed AND NOT is_greater_refreshed AND has_lesser))
        OR (
            has_lesser AND is_lesser_whole AND NOT list_has_all(greater_offices, trace_offices)
            AND is_lesser_refreshed >= is_greater_refreshed
        ) AS is_lesser_counted,
        has_greater AND has_lesser AND list_has_any(greater_offices, trace_offices) AND list_has_any(lesser_offices, trace_offices)
        AND NOT list_has_any(list_intersect(greater_offices, lesser_offices), trace_offices) AS are_added_up
    FROM pairs
    INNER JOIN users_in_question AS users USING (greater_id, lesser_id, month)
    LEFT JOIN staging.commission_user AS greater_earners
        ON greater_earners.customer_id = greater_id
        AND greater_earners.user_id = users.user_id
        AND greater_earners.month = pairs.month
    LEFT JOIN staging.commission_user AS lesser_earners
        ON lesser_earners.customer_id = lesser_id AND lesser_earners.user_id = users.user_id AND lesser_earners.month = pairs.month
    LEFT JOIN staging.user_offices AS workplaces ON workplaces.user_id = users.user_id AND workplaces.month = pairs.month
),

yielding_answers AS (
    SELECT user_id, month, greater_id AS customer_id
    FROM compared
    WHERE is_lesser_counted AND NOT are_added_up
    UNION
    SELECT user_id, month, lesser_id
    FROM compared
    WHERE NOT is_lesser_counted AND NOT are_added_up AND (has_greater OR (has_all_offices AND NOT is_lesser_newer))
),

earned_before AS (
    SELECT user_id, month
    FROM meta.user_month_versions
    WHERE commission IS NOT NULL
    GROUP BY ALL
    HAVING arg_max(commission, version) <> 0
),

rows_without_commission AS (
    SELECT user_id, month, customer_id FROM staging.commission_user WHERE commission IS NULL
),

rows_without_amount AS (
    FROM rows_without_commission
    SEMI JOIN earned_before USING (user_id, month)
    WHERE NOT EXISTS (FROM rows_without_commission ANTI JOIN earned_before USING (user_id, month))
)

SELECT
    earners.user_id,
    earners.month,
    earners.customer_id,
    loaded_months.load_id,
    loaded_months.fetched_at_utc,
    loaded_months.source_state,
    loaded_months.is_refreshed,
    loaded_months.is_cut_short,
    loaded_months.is_unfinished,
    rows_without_amount.user_id IS NOT NULL AS lacks_amount,
    lacks_rest(loaded_months.is_cut_short, loaded_months.is_unfinished) OR lacks_amount AS is_partial
FROM (SELECT DISTINCT user_id, month, customer_id FROM staging.commission_user) AS earners
INNER JOIN loaded_months USING (customer_id, month)
LEFT JOIN rows_without_amount USING (user_id, month, customer_id)
ANTI JOIN yielding_answers USING (user_id, month, customer_id)
ORDER BY earners.month, earners.user_id, earners.customer_id
