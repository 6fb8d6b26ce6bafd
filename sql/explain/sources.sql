-- How new and how complete are the answers that the number comes from?
-- One row per office and month of marts.office_sources. For the chain, only those that lack something or are not
-- current; for a user, those of the user's offices in the month.
-- Parameters: kind, id, month, report
SELECT
    sources.month,
    coalesce(offices.office_name, sources.office_id) AS office,
    sources.customer_id AS customer,
    local_day(sources.fetched_at_utc) AS read_on,
    sources.source_state AS state,
    sources.is_growing,
    sources.is_cut_short,
    sources.is_unfinished,
    sources.lacks_rows,
    sources.lacks_amount,
    NOT sources.is_current AS is_not_refreshed
FROM marts.office_sources AS sources
LEFT JOIN marts.offices AS offices ON offices.office_id = sources.office_id
WHERE sources.report = getvariable('report')
    AND sources.month = getvariable('month')::DATE
    AND CASE getvariable('kind')
        WHEN 'office' THEN sources.office_id = getvariable('id')
        WHEN 'user' THEN (sources.office_id, sources.month) IN (
            SELECT (office_id, month) FROM marts.user_month WHERE user_id = getvariable('id')
        )
        ELSE sources.is_partial OR NOT sources.is_current
    END
ORDER BY sources.month, office
