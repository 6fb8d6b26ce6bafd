-- What did users do, month by month: meetings, viewings, calls?
-- One row per user, month and measure of the live activity report.
-- All figures are assumed: the service documents neither the shape of this report nor what its measures count.
-- `brokerbi shapes` shows whether the answers have the assumed shape. If they do not, this table is empty.
-- Measures have the service's names, in snake_case. One measure may contain another, as meetings_total may contain
-- meetings_own_booked: compare users or months by one measure, and never add up measures.
-- If a user has no row in a loaded month, nothing is known about the user's activity.
-- Key: user_id, month, measure
-- Columns:
--   measure: what is counted, under the service's name
--   amount: how many; the service does not state the unit. Null if it is a text that cannot be read
--   month: first day of the month
--   user_id: id of the user
--   user_name: name of the user; two users may have the same name: group by user_id, and show the label of marts.users
--   office_id: customer id of the office that the report names for the user. If it names none, the requested customer
--     itself if that is an office, or the customer's only office; null if there is neither
--   office_name: name of the office
--   is_assumed: always true: neither shape nor measures are documented
--   is_open: whether the month is not over, or its end has not been requested yet
--   _customer: the customer whose answer the row comes from
--   _month: first day of the month of that answer
--   _load_id: the load of that answer; joins meta.loads
WITH activities AS (
    SELECT users.* REPLACE (coalesce(office_numbers.office_id, id_or_null(users.office_id), own_offices.office_id) AS office_id)
    FROM staging.live_activity_users AS users
    LEFT JOIN staging.office_numbers AS office_numbers ON office_numbers.number = office_number(users.office_id)
    LEFT JOIN staging.offices_asked AS own_offices ON own_offices.customer_id = users.customer_id
)

SELECT
    activities.month,
    activities.office_id,
    offices.office_name,
    activities.user_id,
    users.user_name,
    activities.measure,
    sum_if_known(activities.amount)::DECIMAL(18, 4) AS amount,
    true AS is_assumed,
    months.is_growing AS is_open,
    activities.customer_id AS _customer,
    activities.month AS _month,
    activities.load_id AS _load_id
FROM activities
INNER JOIN staging.months AS months
    ON months.report = 'live_activity' AND months.customer_id = activities.customer_id AND months.month = activities.month
LEFT JOIN marts.office_sources AS sources
    ON sources.report = 'live_activity' AND sources.office_id = activities.office_id AND sources.month = activities.month
LEFT JOIN marts.offices AS offices ON offices.office_id = activities.office_id
LEFT JOIN marts.users AS users ON users.user_id = activities.user_id
WHERE sources.customer_id IS NULL OR sources.customer_id = activities.customer_id
GROUP BY ALL
ORDER BY activities.month, activities.office_id, activities.user_id, activities.measure
