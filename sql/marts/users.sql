-- Which users are there, what are they called, at which office, and since when?
-- One row per user in the directory, the user report, the sales or the running commissions.
-- The name is that of the directory, else of the latest sale, lead, running commission or budget that names the user.
-- Two users may have the same name: group by user_id, and show user_label.
-- Key: user_id
-- Columns:
--   user_id: id of the user
--   user_name: name of the user
--   user_label: the name, with the office, employee number or id if another user has the same name; the id if there
--     is no name
--   name_source: directory, sale, lead, running commission or budget: the report that the name is taken from
--   employee_id: employee number, as on the latest sale
--   is_in_directory: whether the directory of a customer that is still requested has the user now
--   is_missing_in_directory: whether the user is in a customer's user report but in no directory, although this
--     customer's directory has other users of the report; false if that cannot be known
--   left_directory_on: day on which the last directory that had the user was first read without the user; null if a
--     directory still has the user, or none ever had
--   office_id: customer id of the user's office in the latest month of marts.user_month; null for users without a trace
--   office_name: name of the user's latest office
--   first_active_month: first month in which the user had commission, a sale, a writing assignment, a
--     valuation or a lead, or sent a tip; null if there is none
--   last_active_month: last month in which the user had commission, a sale, a writing assignment, a valuation or a
--     lead, or sent a tip; null if there is none
--   has_left: whether the user was at work once and has left. The answers show that in one of three ways: the user was
--     removed from the directory; the user is missing in it, and was last active before the user's latest month that is
--     over and complete; or the user has no trace in the three months up to that month, all of them complete
--   left_after_month: the last active month of a user who has left; null for users who have not left.
--     marts.headcount_month, pages and explanations count the user as left in the month that follows
--   left_on: day on which the user left; null for users who have not left. If is_left_day_known is true, it is
--     left_directory_on. Otherwise only the month is known: it is left_directory_on if that is in left_after_month,
--     else the last day of left_after_month
--   left_month: month from which nothing more is forecast for the user, because the directory shows that the user
--     left. It is last_active_month or, if that is earlier, the user's latest month that is over and complete. Null if
--     the directory does not show that the user left
--   is_left_day_known: whether left_on is the day on which the directory was first read without the user. This needs
--     two things: that day is in left_after_month or the next month; and a directory was read in the week before. If
--     false, only the month is known. Null for users who have not left
WITH user_months AS (
    SELECT *, max(month) FILTER (is_commission_complete AND NOT is_open) OVER (PARTITION BY user_id) AS last_over_month
    FROM marts.user_month
),

user_spans AS (
    SELECT
        user_id,
        arg_max(office_id, month) AS office_id,
        arg_max(office_name, month) AS office_name,
        any_value(first_active_month) AS first_active_month,
        any_value(last_active_month) AS last_active_month,
        any_value(last_over_month) AS last_over_month,
        max(month) FILTER (is_active OR (NOT is_commission_complete AND month < last_over_month)) AS last_possible_month
    FROM user_months
    GROUP BY ALL
)

SELECT
    names.*,
    user_spans.office_id,
    user_spans.office_name,
    user_spans.first_active_month,
    user_spans.last_active_month,
    CASE
        WHEN names.left_directory_on IS NOT NULL
            OR (names.is_missing_in_directory AND user_spans.last_active_month < user_spans.last_over_month)
        THEN least(user_spans.last_active_month, user_spans.last_over_month)
    END AS left_month,
    user_spans.last_active_month IS NOT NULL
        AND (
            left_month IS NOT NULL
            OR coalesce(is_without_trace(user_spans.last_possible_month, user_spans.last_over_month), false)
        ) AS has_left,
    CASE WHEN has_left THEN user_spans.last_active_month END AS left_after_month,
    CASE
        WHEN has_left
            THEN coalesce(names.left_directory_on BETWEEN left_after_month AND last_day(left_after_month + INTERVAL 1 MONTH), false)
            AND len(list_filter(
                directories_read.days, LAMBDA _day: _day BETWEEN names.left_directory_on - 7 AND names.left_directory_on - 1
            )) > 0
    END AS is_left_day_known,
    CASE
        WHEN is_left_day_known THEN names.left_directory_on
        WHEN has_left THEN least(last_day(left_after_month), CASE WHEN names.left_directory_on >= left_after_month THEN names.left_directory_on END)
    END AS left_on
FROM staging.user_names AS names
LEFT JOIN user_spans USING (user_id)
LEFT JOIN (
    SELECT coalesce(list(DISTINCT local_day(fetched_at_utc)), []) AS days FROM meta.loads WHERE report = 'users'
) AS directories_read ON true
ORDER BY names.user_id
