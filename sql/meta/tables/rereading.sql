-- How much of what is older one night reads again, as the settings say.
CREATE TABLE IF NOT EXISTS meta.rereading (
    changed_months INTEGER
);
COMMENT ON TABLE meta.rereading IS 'How much of what is older one night reads again, as the settings say.';
COMMENT ON COLUMN meta.rereading.changed_months IS
    'older months that one night reads again because a sale of theirs changed or two reports disagree; 0 for never';
