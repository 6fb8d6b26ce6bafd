-- Every publication of the analysts' file: made, refused, failed, or rolled back to.
CREATE TABLE IF NOT EXISTS meta.publications (
    name VARCHAR,
    at_utc TIMESTAMP,
    status VARCHAR,
    last_load_number BIGINT,
    loads BIGINT,
    bytes BIGINT,
    seconds DOUBLE,
    header_sha256 VARCHAR,
    reasons VARCHAR[]
);
COMMENT ON TABLE meta.publications IS 'Every publication of the analysts'' file: made, refused, failed, or rolled back to.';
COMMENT ON COLUMN meta.publications.name IS
    'the version, published/warehouse-<version>.duckdb; null when there is no new file';
COMMENT ON COLUMN meta.publications.at_utc IS 'when, in UTC';
COMMENT ON COLUMN meta.publications.status IS
    '''published'', ''refused'' by a check, ''failed'' as no file could be written, or ''rolled back''';
COMMENT ON COLUMN meta.publications.last_load_number IS 'every load up to this number is in it';
COMMENT ON COLUMN meta.publications.loads IS 'how many loads are in force in it';
COMMENT ON COLUMN meta.publications.bytes IS 'size of the file';
COMMENT ON COLUMN meta.publications.seconds IS 'how long the copy took';
COMMENT ON COLUMN meta.publications.header_sha256 IS
    'checksum of the file''s header; another one says that somebody wrote to it';
COMMENT ON COLUMN meta.publications.reasons IS 'why there is no new file';
