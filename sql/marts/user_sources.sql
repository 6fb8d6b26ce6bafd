-- Whose answer counts for a user's commission?
-- One row per user, month and customer whose user report counts. If a user has several rows in a month, their amounts
-- are added up.
-- Two customers that answer for the same office (marts.customer_overlaps) are compared user by user.
-- The larger is the customer with more offices, and the smaller is the other one. The evidence is all offices that
-- staging.user_offices names for the user and month.
-- The newer is the only one of the two that is still requested and found. If both or neither are, it is the one that
-- was read in a later run.
-- If both have a row of the user, and the evidence names offices of each but none that they share, both count. Each is
-- then assumed to report the amounts earned at its own offices. A check names users with equal amounts in two answers.
-- Otherwise, if both have a row of the user, the larger counts. There are three exceptions, in which the smaller
-- counts:
-- 1. The smaller is the newer, and the evidence names only offices of the smaller. In this case the larger does not
-- count even if the smaller has no row of the user.
-- 2. The evidence names only offices of the smaller, and not only offices of the larger. The smaller then counts even
-- if it was read earlier, but not if only the larger is still requested and found.
-- 3. Only the smaller is still requested and found.
-- If only the smaller has a row of the user, that row counts. There is one exception, in which neither counts. It needs
-- three things: the smaller is not the newer; the answer of the larger covers all offices of the smaller; and case 2
-- does not apply.
-- Example: the group G answers for the offices M1 and M2, and the office M1 also for itself, a day later. A user whose
-- evidence names only M1 counts by the answer of M1. A user whose evidence names M1 and M2 counts by the answer of G,
-- because that of M1 has only a part of the user's numbers.
-- Key: user_id, month, customer_id
-- Columns:
--   user_id: id of the user
--   month: first day of the month
--   customer_id: the customer whose user report counts
--   lacks_amount: whether the user's row has no commission although the last one known was not 0. Always false if null
--     may just mean 0. That is assumed if some row without commission had 0 before, or never had a commission
--   is_partial: whether something of the user may be missing, although there is a row: the report was cut short, is
--     unfinished, or lacks the amount
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
        customer_pairs.customer_id AS larger_id,
        customer_pairs.yielding_customer_id AS smaller_id,
        larger.month,
        (smaller.is_refreshed, smaller.run_read_at_utc) > (larger.is_refreshed, larger.run_read_at_utc)
            AS is_smaller_newer,
        smaller.is_refreshed AS is_smaller_refreshed,
        larger.is_refreshed AS is_larger_refreshed,
        list_has_all(coalesce(larger_entries.offices, []), smaller_offices.offices) AS has_all_offices,
        larger_offices.offices AS larger_offices,
        smaller_offices.offices AS smaller_offices
    FROM marts.customer_overlaps AS customer_pairs
    INNER JOIN loaded_months AS larger ON larger.customer_id = customer_pairs.customer_id
    INNER JOIN loaded_months AS smaller ON smaller.customer_id = customer_pairs.yielding_customer_id AND smaller.month = larger.month
    INNER JOIN offices_ever AS smaller_offices ON smaller_offices.customer_id = smaller.customer_id
    INNER JOIN offices_ever AS larger_offices ON larger_offices.customer_id = larger.customer_id
    LEFT JOIN offices_with_entries AS larger_entries
        ON larger_entries.customer_id = larger.customer_id AND larger_entries.month = larger.month
),

users_in_question AS (
    SELECT pairs.larger_id, pairs.smaller_id, pairs.month, earners.user_id
    FROM pairs
    INNER JOIN staging.commission_user AS earners
        ON earners.customer_id = pairs.smaller_id AND earners.month = pairs.month
    UNION
    SELECT pairs.larger_id, pairs.smaller_id, pairs.month, earners.user_id
    FROM pairs
    INNER JOIN staging.commission_user AS earners
        ON earners.customer_id = pairs.larger_id AND earners.month = pairs.month
    WHERE pairs.is_smaller_newer
),

compared AS (
    SELECT
        pairs.*,
        users.user_id,
        larger_earners.user_id IS NOT NULL AS has_larger,
        smaller_earners.user_id IS NOT NULL AS has_smaller,
        coalesce(string_split(workplaces.named_offices, ', '), []) AS evidence_offices,
        evidence_offices <> [] AND list_has_all(smaller_offices, evidence_offices) AS is_evidence_in_smaller,
        is_smaller_newer AND (is_evidence_in_smaller OR (is_smaller_refreshed AND NOT is_larger_refreshed AND has_smaller))
        OR (
            has_smaller AND is_evidence_in_smaller AND NOT list_has_all(larger_offices, evidence_offices)
            AND is_smaller_refreshed >= is_larger_refreshed
        ) AS is_smaller_counted,
        has_larger AND has_smaller AND list_has_any(larger_offices, evidence_offices) AND list_has_any(smaller_offices, evidence_offices)
        AND NOT list_has_any(list_intersect(larger_offices, smaller_offices), evidence_offices) AS are_added_up
    FROM pairs
    INNER JOIN users_in_question AS users USING (larger_id, smaller_id, month)
    LEFT JOIN staging.commission_user AS larger_earners
        ON larger_earners.customer_id = larger_id
        AND larger_earners.user_id = users.user_id
        AND larger_earners.month = pairs.month
    LEFT JOIN staging.commission_user AS smaller_earners
        ON smaller_earners.customer_id = smaller_id AND smaller_earners.user_id = users.user_id AND smaller_earners.month = pairs.month
    LEFT JOIN staging.user_offices AS workplaces ON workplaces.user_id = users.user_id AND workplaces.month = pairs.month
),

answers_left_out AS (
    SELECT user_id, month, larger_id AS customer_id
    FROM compared
    WHERE is_smaller_counted AND NOT are_added_up
    UNION
    SELECT user_id, month, smaller_id
    FROM compared
    WHERE NOT is_smaller_counted AND NOT are_added_up AND (has_larger OR (has_all_offices AND NOT is_smaller_newer))
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
ANTI JOIN answers_left_out USING (user_id, month, customer_id)
ORDER BY earners.month, earners.user_id, earners.customer_id
