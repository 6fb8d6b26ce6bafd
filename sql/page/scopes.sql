-- Which pages are there, and up to which day are their numbers known?
-- One row per page:
-- 1. the chain;
-- 2. each office with a loaded commission, except those that closed more than a year before the newest month;
-- 3. each brand, if there are several; each region, if there are several.
-- state is why the numbers of an office end early: cut (its newest month was loaded in part), behind (the chain's
-- newest month is not loaded) or stopped (the office is no longer expected). Null in two cases: if they do not end early;
-- for other pages.
WITH coverage_months AS (
    SELECT
        coverage.month,
        coverage.office_id,
        coalesce(coverage.office_name, coverage.office_id) AS office_name,
        coverage.is_commission_held AS is_whole,
        months.commission IS NOT NULL AS is_loaded,
        months.read_at_utc,
        max(coverage.month) FILTER (months.commission IS NOT NULL) OVER () AS newest_of_chain,
        max(coverage.month) FILTER (months.commission IS NOT NULL) OVER (PARTITION BY coverage.office_id) AS newest,
        max(coverage.month) OVER (PARTITION BY coverage.office_id) AS last_expected
    FROM marts.office_coverage AS coverage
    LEFT JOIN marts.office_month AS months ON months.office_id = coverage.office_id AND months.month = coverage.month
),

offices AS (
    SELECT
        office_id,
        any_value(office_name) AS office_name,
        any_value(newest) AS newest,
        any_value(newest_of_chain) AS newest_of_chain,
        any_value(read_at_utc) FILTER (month = newest) AS read_at_utc,
        CASE
            WHEN NOT bool_or(is_whole) FILTER (month = newest) THEN 'cut'
            WHEN any_value(newest) = any_value(newest_of_chain) THEN NULL
            WHEN any_value(last_expected) >= any_value(newest_of_chain) THEN 'behind'
            ELSE 'stopped'
        END AS state
    FROM coverage_months
    WHERE newest IS NOT NULL
    GROUP BY office_id
),

pages AS (
    SELECT levels.level AS kind, coalesce(levels.member_id, '') AS scope, levels.member_name, offices.*
    FROM offices
    INNER JOIN marts.office_levels AS levels USING (office_id)
    LEFT JOIN marts.dim_office AS spans USING (office_id)
    WHERE (levels.level = 'chain' OR levels.member_id IS NOT NULL)
        AND NOT coalesce(levels.level = 'office' AND spans.closed_after_month < newest_of_chain - INTERVAL 1 YEAR, false)
)

SELECT
    kind,
    scope,
    any_value(member_name) AS name,
    list(office_id ORDER BY office_name, office_id) AS office_ids,
    list(office_name ORDER BY office_name, office_id) AS office_names,
    CASE
        WHEN kind <> 'office' OR any_value(state) IS NULL THEN NULL
        WHEN any_value(state) = 'cut' THEN greatest(local_day(any_value(read_at_utc)), any_value(newest))
        ELSE last_day(any_value(newest))
    END AS until_on,
    CASE WHEN kind = 'office' THEN any_value(state) END AS state,
    min(read_at_utc) FILTER (newest = newest_of_chain) AS read_at_utc
FROM pages
GROUP BY kind, scope
QUALIFY kind IN ('chain', 'office') OR count(*) OVER (PARTITION BY kind) > 1
ORDER BY kind, name, scope
