-- Which kinds of conditions are there, and how is each told?
--
-- Of a condition that was judged more or less severe than its kind meta.conditions says so.
-- Columns:
--   kind: the kind, as meta.conditions has it
--   known_by: who can know of it: the file, a process that reads it with its settings, or Dagster; only the first are in
--     meta.conditions
--   severities: what it may be: a warning, which stands in `brokerbi status`, or an error, of which a monitor and messages
--     tell
--   told: when a message tells of an error: with its run (as soon as it has failed, and after the night) or after the night
--   is_told_once: whether no later night repeats it
--   is_counted: whether the verdict counts whom it concerns; of the others it says what was found
--   is_of_figures: whether figures may be missing or doubtful while it is so
--   there_is_one_while: when there is one
CREATE OR REPLACE VIEW meta.kinds AS
FROM (VALUES
    ('failed', 'file', ['error'], 'with its run', false, true, true, 'a month was asked for, could not be read, and was not read since'),
    (
        'held back', 'file', ['error'], 'with its run', false, true, true,
        'a month''s rows wait for the operator: too many are gone, or a column is empty'
    ),
    ('shut out', 'file', ['error'], 'with its run', true, true, true, 'each of several reports of a customer is refused (403)'),
    ('right lost', 'file', ['error'], 'with its run', true, true, true, 'a report of a customer was answered before and is refused now'),
    ('no right', 'file', ['warning'], NULL, false, true, true, 'a report of a customer was never answered and is refused'),
    ('late', 'file', ['error'], 'after the night', false, true, true, 'a report of a customer was not read for 36 hours (`meta.deadlines`)'),
    (
        'never read', 'file', ['error'], 'after the night', false, true, true,
        'a report of a customer is due and was never read, or a customer of the settings has nothing yet'
    ),
    (
        'unpublished', 'file', ['error'], 'with its run', false, false, false,
        'the latest file was refused or failed, is gone or is not as it was published, or what was loaded three hours ago is in none'
    ),
    (
        'rolled back', 'file', ['warning'], NULL, false, true, false, 'analysts have an older version, which `brokerbi rollback` put back'
    ),
    ('quarantine', 'file', ['warning'], NULL, false, true, true, 'rows were set aside, as something in them is not as it is documented'),
    ('check', 'file', ['warning', 'error'], 'after the night', false, true, true, 'a check of the figures found rows, or could not run'),
    ('changes unknown', 'file', ['warning'], NULL, false, true, true, 'the service does not tell which sales were changed'),
    ('changed column', 'file', ['warning'], NULL, false, true, false, 'a column''s type was widened'),
    ('column missing', 'file', ['warning'], NULL, false, true, true, 'rows of a report lack a column that marts need'),
    ('overlap', 'file', ['warning'], NULL, false, true, false, 'two customers answer for the same office, so it is asked for twice'),
    (
        'not refreshed', 'file', ['warning'], NULL, false, true, true,
        'figures come from a customer who is not read any more, and nobody else answers for the office'
    ),
    (
        'not in the lake', 'file', ['warning', 'error'], 'after the night', false, false, false,
        'the lake has not the latest publication; an error once it has waited as long as makes a report `late`'
    ),
    (
        'budget unconfirmed', 'file', ['error'], 'after the night', false, true, false,
        'a budget that was sent in the latest 31 days is not shown by the service'
    ),
    ('months missing', 'process', ['warning'], NULL, false, false, false, 'months that are over were not read yet, as after a backfill that was cancelled'),
    ('not in settings', 'process', ['warning'], NULL, false, true, false, 'something is held of a customer who is not in the settings any more'),
    ('not writable', 'process', ['error'], 'after the night', false, false, false, 'the data directory cannot be written, or be made'),
    (
        'disk nearly full', 'process', ['warning', 'error'], 'after the night', false, false, false,
        'less than 1 GB is free for the data directory, less than 100 MB'
    ),
    ('settings', 'process', ['error'], 'after the night', false, false, false, 'a sync would not accept the settings'),
    ('erasure', 'process', ['error'], 'after the night', false, false, false, 'an erasure is not finished'),
    (
        'daemon silent', 'process', ['warning', 'error'], 'after the night', false, false, false,
        'Dagster''s daemon was not seen for a minute, for five minutes'
    ),
    (
        'sync left', 'process', ['error'], 'after the night', false, false, false,
        'the latest command was killed or gave up, is stopped, or has kept another waiting for an hour'
    ),
    ('run failed', 'Dagster', ['error'], 'with its run', true, true, false, 'a run broke down by itself (only in messages)'),
    ('no night', 'Dagster', ['error'], 'after the night', false, true, false, 'there has been no night for 30 hours (only in messages)')
) AS _(kind, known_by, severities, told, is_told_once, is_counted, is_of_figures, there_is_one_while);
