-- One row per stored answer that is in the archive of landing: where, and since when.
CREATE TABLE IF NOT EXISTS meta.archived (
    landing VARCHAR,
    sha256 VARCHAR,
    archived_at_utc TIMESTAMP
);
COMMENT ON TABLE meta.archived IS
    'One row per stored answer that is in the archive of landing: where, and since when.';
COMMENT ON COLUMN meta.archived.landing IS
    'the file below landing/; it may be gone from there, and is brought back when it is needed';
COMMENT ON COLUMN meta.archived.sha256 IS 'checksum of the file, which its name in the archive ends with';
COMMENT ON COLUMN meta.archived.archived_at_utc IS 'when it was put there, in UTC';
