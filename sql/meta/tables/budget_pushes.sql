-- Every budget that was to be set at the service: by whom, from what to what, and whether the service shows it.
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
COMMENT ON TABLE meta.budget_pushes IS
    'Every budget that was to be set at the service, a row for each measure of a user and month: by whom, from what to what, and whether the service shows it. All measures of a budget are sent together, also those that stay.';
COMMENT ON COLUMN meta.budget_pushes.plan_id IS 'the plan that it is part of';
COMMENT ON COLUMN meta.budget_pushes.planned_at_utc IS 'when the plan was made, in UTC';
COMMENT ON COLUMN meta.budget_pushes.os_user IS 'who pushed it, as the operating system calls them';
COMMENT ON COLUMN meta.budget_pushes.customer IS 'the customer whose login was used';
COMMENT ON COLUMN meta.budget_pushes.office_id IS 'customer id of the office';
COMMENT ON COLUMN meta.budget_pushes.user_id IS 'id of the user whose budget it is';
COMMENT ON COLUMN meta.budget_pushes.month IS 'first day of the month';
COMMENT ON COLUMN meta.budget_pushes.measure IS 'commission, sold, registered, meetings or own_booked';
COMMENT ON COLUMN meta.budget_pushes.before IS 'the budget when the plan was made; null where there was none';
COMMENT ON COLUMN meta.budget_pushes.after IS 'the budget to be; null where there is none, and none is sent';
COMMENT ON COLUMN meta.budget_pushes.status IS
    '''sent'' (written before it is sent), ''confirmed'' as the service shows it, ''unconfirmed'' as it does not, ''changed meanwhile'' where it shows another, or ''refused''';
COMMENT ON COLUMN meta.budget_pushes.sent_count IS 'how often it was sent, or about to be when a push was killed';
COMMENT ON COLUMN meta.budget_pushes.sent_at_utc IS 'when it was last sent, in UTC';
COMMENT ON COLUMN meta.budget_pushes.noted_at_utc IS 'when the status was written, in UTC';
COMMENT ON COLUMN meta.budget_pushes.found IS 'the budget that the service showed last; null where it showed none';
COMMENT ON COLUMN meta.budget_pushes.reason IS 'why it was not set, or is not known to be';
