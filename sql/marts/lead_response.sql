-- How many hours until somebody took a lead?
-- One row per incoming lead or tip that was read within two days of being created; earlier ones, as of a backfill, have
-- no answer to this.
-- The service notes no time at which a state changed, so it is known from readings, usually one a night: between the
-- last one with the state New and the first one with another, and so at least and at most so many hours. Exact hours
-- nobody knows; more syncs a day make the span shorter. That New means untouched is assumed from the word, and a lead
-- that was taken without its state being changed looks as if it waited.
-- Key: lead_id, way
-- Columns:
--   month: first day of the month it was created in
--   response: answered, waiting, or removed before anything else was noted
--   first_state: state it was first read with
--   answered_state: first state that was not New
--   last_new_at_utc: newest reading at which it was New; null if it never was
--   answered_at_utc: first reading at which it was not
--   hours_at_least: hours from its creation to the last reading with New, by the clock of the settings; zero if it was
--     not New when first read
--   hours_at_most: hours from its creation to the first reading without New; null while it waits or if removed
--   office_id: customer id of the office the lead belongs to; null where unknown
--   office_name: name of the office
--   user_id: id of the user the lead belongs to; null when it belongs to an office or a group of users
--   user_name: name of the user; two may have the same, so group by user_id: marts.users has a label for each
--   _customer: the customer whose answer this is
--   _month: month of that answer
--   _load_id: load of that answer; joins meta.loads
WITH states AS (
    SELECT
        way,
        lead_id,
        arg_min(state, version) AS first_state,
        min(read_at_utc) AS first_read_at_utc,
        min(read_at_utc) FILTER (state <> 'New' OR is_removed) AS changed_at_utc,
        arg_min(state, version) FILTER (state <> 'New' OR is_removed) AS changed_state,
        coalesce(arg_min(is_removed, version) FILTER (state <> 'New' OR is_removed), false) AS changed_to_removed
    FROM staging.lead_states
    GROUP BY ALL
),

with_leads AS (
    SELECT
        leads.*,
        states.first_state,
        states.first_read_at_utc,
        states.changed_at_utc,
        states.changed_state,
        states.changed_to_removed,
        coalesce(states.changed_at_utc, TIMESTAMP '9999-01-01') AS new_until_utc,
        timezone('UTC', timezone(clock.timezone, leads.created_at)) AS created_at_utc
    FROM marts.leads AS leads
    INNER JOIN states USING (way, lead_id)
    CROSS JOIN staging.clock AS clock
),

last_read AS (
    SELECT
        with_leads.*,
        CASE
            WHEN readings.read_at_utc >= with_leads.first_read_at_utc THEN readings.read_at_utc
        END AS last_new_at_utc,
        CASE
            WHEN with_leads.changed_at_utc IS NULL THEN 'waiting'
            WHEN with_leads.changed_to_removed THEN 'removed'
            ELSE 'answered'
        END AS response
    FROM with_leads
    ASOF LEFT JOIN staging.lead_readings AS readings
        ON readings.customer_id = with_leads._customer
        AND readings.month = with_leads.month
        AND with_leads.new_until_utc > readings.read_at_utc
)

SELECT
    lead_id,
    way,
    month,
    created_at,
    office_id,
    office_name,
    user_id,
    user_name,
    lead_type,
    lead_side,
    response,
    first_state,
    CASE WHEN response = 'answered' THEN changed_state END AS answered_state,
    last_new_at_utc,
    CASE WHEN response = 'answered' THEN changed_at_utc END AS answered_at_utc,
    CASE
        WHEN created_at_utc <= last_new_at_utc THEN date_diff('minute', created_at_utc, last_new_at_utc) / 60
        WHEN created_at_utc IS NOT NULL THEN 0
    END::DECIMAL(18, 1) AS hours_at_least,
    CASE
        WHEN response <> 'answered' THEN NULL
        WHEN created_at_utc <= changed_at_utc THEN date_diff('minute', created_at_utc, changed_at_utc) / 60
        WHEN created_at_utc IS NOT NULL THEN 0
    END::DECIMAL(18, 1) AS hours_at_most,
    _customer,
    _month,
    _load_id
FROM last_read
ORDER BY month, office_id, created_at, lead_id
