-- Which users are there, what are they called, at which office, and since when?
-- One row per user in the directory, the user report, the sales or the running commissions.
-- The name is that of the directory, else of the latest sale, lead, running commission or budget that names the user.
-- Two users may have the same name: group by user_id, and show user_label.
-- Key: user_id
-- Columns:
--   user_id: id of the user
--   user_name: name of the user
--   user_label: the name, with the office, else the employee number, else the id behind it where another user has the
--     same; the id without a name
--   name_source: directory, sale, lead, running commission or budget: the report that the name is taken from
--   employee_id: employee number, as on the latest sale
--   is_in_directory: whether the directory of a customer that is still asked for has the user now
--   is_missing_in_directory: whether such a directory has other users of a customer whose user report has this one, and
--     this one is in none; false where that cannot be known
--   left_directory_on: day on which the last directory that had the user was read without; null while one has
--     the user, and where none ever did
--   office_id: customer id of the user's office in the latest month of marts.user_month; null for who left no trace
--   office_name: name of that office
--   first_active_month: first month in which the user earned, sold, wrote, valued, or had a lead or tip; null if never
--   last_active_month: last such month
--   has_left: whether the user was at work once and is not any more, as far as is known: taken out of the directory; or missing
--     in it and not active in the latest month that is over; or without a trace in three whole months
SELECT
    names.*,
    worked.office_id,
    worked.office_name,
    worked.first_active_month,
    worked.last_active_month,
    coalesce(
        worked.last_active_month IS NOT NULL
        AND (
            names.left_directory_on IS NOT NULL
            OR (names.is_missing_in_directory AND worked.last_active_month < last_over.month)
            OR worked.last_active_month <= last_over.month - INTERVAL 3 MONTH
        ),
        false
    ) AS has_left
FROM marts.user_names AS names
LEFT JOIN (
    SELECT
        user_id,
        arg_max(office_id, month) AS office_id,
        arg_max(office_name, month) AS office_name,
        any_value(first_active_month) AS first_active_month,
        any_value(last_active_month) AS last_active_month
    FROM marts.user_month
    GROUP BY ALL
) AS worked USING (user_id)
CROSS JOIN (SELECT max(month) AS month FROM marts.office_month WHERE NOT is_open) AS last_over
ORDER BY names.user_id
