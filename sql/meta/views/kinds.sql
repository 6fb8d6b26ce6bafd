-- Which kinds of conditions are there, and how is each reported?
--
-- meta.conditions states the severity of a condition if it is not the first severity of the kind.
-- Columns:
--   kind: the kind, as meta.conditions has it
--   known_by: who can know of such a condition: the file, or only a process that reads the file with its settings.
--     meta.conditions has only those known by the file
--   severities: the possible severities: a warning, which `brokerbi status` shows, or an error, which a monitor and
--     messages report too
--   is_counted: whether the verdict counts the customers and reports concerned; if not, it states the issue
--   is_of_figures: whether figures may be missing or doubtful while the condition lasts
--   there_is_one_while: when such a condition exists
CREATE OR REPLACE VIEW meta.kinds AS
FROM (VALUES
    ('failed', 'file', ['error'], true, true, 'a month was requested, could not be read, and has not been read since'),
    (
        'held back', 'file', ['error'], true, true,
        'a month''s rows wait for the operator: too many are gone, or a column is empty'
    ),
    ('access denied', 'file', ['error'], true, true, 'access to each of several reports of a customer is denied (403)'),
    ('access lost', 'file', ['error'], true, true, 'a report of a customer was answered before and is denied now'),
    ('no access', 'file', ['warning'], true, true, 'a report of a customer was never answered and is denied'),
    ('late', 'file', ['error'], true, true, 'a report of a customer was not read for 30 hours (`meta.deadlines`)'),
    (
        'never read', 'file', ['error'], true, true,
        'a report of a customer is due and was never read, or a customer of the settings has nothing yet'
    ),
    (
        'unpublished', 'file', ['error', 'warning'], false, false,
        'the latest file failed, is missing or damaged, or lacks rows loaded three hours ago; a warning for old pages'
    ),
    (
        'rolled back', 'file', ['warning'], true, false, 'analysts have an older version, which `brokerbi rollback` put back'
    ),
    ('quarantine', 'file', ['warning'], true, true, 'rows were set aside because a value in them is not as documented'),
    ('check', 'file', ['warning', 'error'], true, true, 'a check of the figures found rows, or could not run'),
    ('changes unknown', 'file', ['warning'], true, true, 'the service does not report which sales changed'),
    ('changed column', 'file', ['warning'], true, false, 'a column''s type was widened'),
    ('column missing', 'file', ['warning'], true, true, 'rows of a report lack a column that marts need'),
    ('overlap', 'file', ['warning'], true, false, 'two customers answer for the same office, so it is requested twice'),
    (
        'not refreshed', 'file', ['warning'], true, true,
        'figures come from a customer that is no longer read, and no other customer answers for the office'
    ),
    (
        'not in the lake', 'file', ['warning', 'error'], false, false,
        'the lake lacks the latest publication; an error after as many hours as make a report `late`'
    ),
    (
        'budget unconfirmed', 'file', ['error'], true, false,
        'a budget that was sent in the latest 31 days is not shown by the service'
    ),
    ('months missing', 'process', ['warning'], false, false, 'past months have not been read yet, for example after a cancelled backfill'),
    ('not in settings', 'process', ['warning'], true, false, 'rows are loaded of a customer that is no longer in the settings'),
    ('not writable', 'process', ['error'], false, false, 'the data directory cannot be written or created'),
    (
        'disk nearly full', 'process', ['warning', 'error'], false, false,
        'less than 1 GB is free for the data directory (warning), or less than 100 MB (error)'
    ),
    ('settings', 'process', ['error'], false, false, 'a sync would not accept the settings'),
    ('erasure', 'process', ['error'], false, false, 'an erasure is not finished'),
    (
        'daemon silent', 'process', ['warning', 'error'], false, false,
        'Dagster''s daemon was not seen for a minute (warning), or for five minutes (error)'
    ),
    (
        'sync left', 'process', ['error'], false, false,
        'the latest command was killed or gave up, is stopped, or has kept another waiting for an hour'
    )
) AS _(kind, known_by, severities, is_counted, is_of_figures, there_is_one_while);
