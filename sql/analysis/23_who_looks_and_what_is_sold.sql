-- Where do more people look than homes are sold?
-- One row per office and area: who looks there (report search_profiles), and the homes sold in the latest twelve
-- months, null where areas are not known (report areas).
-- Parameters: office
WITH sold AS (
    SELECT office_id, area_id, sum(sale_count) AS homes
    FROM marts.area_month
    WHERE month > (SELECT max(month) - INTERVAL 12 MONTH FROM marts.area_month)
    GROUP BY ALL
),

looking AS (
    SELECT office_id, area_id, any_value(area_name) AS area_name, sum(profile_count) AS profiles
    FROM marts.demand
    GROUP BY ALL
)

SELECT
    looking.office_id,
    coalesce(looking.area_name, looking.area_id, 'no area named') AS area,
    looking.profiles,
    CASE WHEN looking.office_id IN (SELECT office_id FROM sold) THEN coalesce(sold.homes, 0) END AS homes_sold,
    round(looking.profiles / nullif(sold.homes, 0), 1) AS profiles_per_home
FROM looking
LEFT JOIN sold ON sold.office_id = looking.office_id AND sold.area_id = looking.area_id
WHERE looking.office_id = coalesce(getvariable('office'), looking.office_id)
ORDER BY profiles_per_home DESC NULLS LAST, looking.profiles DESC;
