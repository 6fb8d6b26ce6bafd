-- Budgets pushed to the service, a row for each measure of a user and month: by whom, from which to which amount, and
-- whether the service shows it. All measures of a budget are sent together, even unchanged ones.
-- Columns:
--   plan_id: the plan that the budget is part of
--   planned_at_utc: when the plan was made, in UTC
--   os_user: who pushed it, by the name in the operating system
--   customer: the customer whose login was used
--   office_id: customer id of the office
--   user_id: id of the user whose budget it is
--   month: first day of the month
--   measure: commission, sold, registered, meetings or own_booked
--   before: the budget when the plan was made; null if there was none
--   after: the planned budget; null if there is none, and none is sent
--   status: 'sent' (written before sending), 'confirmed' if the service shows the budget, 'unconfirmed' if it does
--     not, 'changed meanwhile' if the budget had changed since the plan and so was not sent, or 'refused' (rejected,
--     or not sent after an error)
--   sent_count: how often the budget was sent, including a push that was killed before sending
--   sent_at_utc: when the budget was last sent, in UTC
--   noted_at_utc: when the status was written, in UTC
--   found: the budget that the service showed last; null if it showed none
--   reason: why the budget was not set, or is not known to be set
CREATE TABLE IF NOT EXISTS meta.budget_pushes (
    plan_id VARCHAR,
    planned_at_utc TIMESTAMP,
    os_user VARCHAR,
    customer VARCHAR,
    office_id VARCHAR,
    user_id VARCHAR,
    month DATE,
    measure VARCHAR,
    before BIGINT,
    after BIGINT,
    status VARCHAR,
    sent_count BIGINT,
    sent_at_utc TIMESTAMP,
    noted_at_utc TIMESTAMP,
    found BIGINT,
    reason VARCHAR
);
