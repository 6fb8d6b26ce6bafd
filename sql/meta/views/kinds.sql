-- Which kinds of conditions are there, and how is each told?
--
-- Of a condition that was judged more or less severe than its kind meta.conditions says so.
-- Columns:
--   kind: the kind, as meta.conditions has it
--   known_by: who can know of it: the file, or a process that reads it with its settings; only the first are in
--     meta.conditions
--   severities: what it may be: a warning, which stands in `brokerbi status`, or an error, which a monitor and
--     messages report
--   is_counted: whether the verdict counts whom it concerns; of the others it says what was found
--   is_of_figures: whether figures may be missing or doubtful while it is so
--   there_is_one_while: when there is one
CREATE OR REPLACE VIEW meta.kinds AS
FROM (VALUES
    ('failed', 'file', ['error'], true, true, 'a month was asked for, could not be read, and was not read since'),
    (
        'held back', 'file', ['error'], true, true,
        'a month''s rows wait for the operator: too many are gone, or a column is empty'
    ),
    ('shut out', 'file', ['error'], true, true, 'each of several reports of a customer is refused (403)'),
    ('right lost', 'file', ['error'], true, true, 'a report of a customer was answered before and is refused now'),
    ('no right', 'file', ['warning'], true, true, 'a report of a customer was never answered and is refused'),
    ('late', 'file', ['error'], true, true, 'a report of a customer was not read for 36 hours (`meta.deadlines`)'),
    (
        'never read', 'file', ['error'], true, true,
        'a report of a customer is due and was never read, or a customer of the settings has nothing yet'
    ),
    (
        'unpublished', 'file', ['error'], false, false,
        'the latest file was refused or failed, is gone or is not as it was published, or what was loaded three hours ago is in none'
    ),
    (
        'rolled back', 'file', ['warning'], true, false, 'analysts have an older version, which `brokerbi rollback` put back'
    ),
    ('quarantine', 'file', ['warning'], true, true, 'rows were set aside, as something in them is not as it is documented'),
    ('check', 'file', ['warning', 'error'], true, true, 'a check of the figures found rows, or could not run'),
    ('changes unknown', 'file', ['warning'], true, true, 'the service does not tell which sales were changed'),
    ('changed column', 'file', ['warning'], true, false, 'a column''s type was widened'),
    ('column missing', 'file', ['warning'], true, true, 'rows of a report lack a column that marts need'),
    ('overlap', 'file', ['warning'], true, false, 'two customers answer for the same office, so it is asked for twice'),
    (
        'not refreshed', 'file', ['warning'], true, true,
        'figures come from a customer who is not read any more, and nobody else answers for the office'
    ),
    (
        'not in the lake', 'file', ['warning', 'error'], false, false,
        'the lake has not the latest publication; an error once it has waited as long as makes a report `late`'
    ),
    (
        'budget unconfirmed', 'file', ['error'], true, false,
        'a budget that was sent in the latest 31 days is not shown by the service'
    ),
    ('months missing', 'process', ['warning'], false, false, 'months that are over were not read yet, as after a backfill that was cancelled'),
    ('not in settings', 'process', ['warning'], true, false, 'something is held of a customer who is not in the settings any more'),
    ('not writable', 'process', ['error'], false, false, 'the data directory cannot be written, or be made'),
    (
        'disk nearly full', 'process', ['warning', 'error'], false, false,
        'less than 1 GB is free for the data directory, less than 100 MB'
    ),
    ('settings', 'process', ['error'], false, false, 'a sync would not accept the settings'),
    ('erasure', 'process', ['error'], false, false, 'an erasure is not finished'),
    (
        'daemon silent', 'process', ['warning', 'error'], false, false,
        'Dagster''s daemon was not seen for a minute, for five minutes'
    ),
    (
        'sync left', 'process', ['error'], false, false,
        'the latest command was killed or gave up, is stopped, or has kept another waiting for an hour'
    )
) AS _(kind, known_by, severities, is_counted, is_of_figures, there_is_one_while);
