-- Every publication of the analysts' file: published, refused, failed or rolled back.
-- Columns:
--   name: the version, published/warehouse-<version>.duckdb; null when there is no new file
--   at_utc: time of the publication, in UTC
--   status: 'published', 'refused' (a check failed), 'failed' (no file could be written) or 'rolled back'
--   last_load_number: every load up to this number is in the file
--   loads: how many loads are current in the file
--   bytes: size of the file
--   seconds: how long the copy took
--   header_sha256: checksum of the file's header, which changes if the file is written to
--   reasons: why there is no new file
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
