-- In which months is the money earned, and how do this year's months stand against the usual ones?
-- One row per month of the year, over the whole years before and the year so far.
--
-- A usual month is the average share of its year, over the whole years of which every month is held; shares are compared
-- so that a growing chain does not make its early years look quiet. expected is what this year so far makes likely,
-- without months of which an office's end is missing.
-- Parameters: office
WITH months AS (
    SELECT
        month,
        sum(commission) AS commission,
        sum(sold_estate_parts) AS homes,
        bool_or(is_open) AS is_open,
        bool_and(is_commission_complete) AS is_complete
    FROM marts.office_month
    WHERE commission IS NOT NULL AND office_id = coalesce(getvariable('office'), office_id)
    GROUP BY ALL
),

whole_years AS (
    SELECT year(month) AS year, sum(commission) AS commission
    FROM months
    GROUP BY ALL
    HAVING count(*) = 12 AND NOT bool_or(is_open) AND bool_and(is_complete)
),

usual AS (
    SELECT
        month(months.month) AS month_of_year,
        avg(months.commission / whole_years.commission) AS usual_share,
        count(*) AS year_count
    FROM months
    INNER JOIN whole_years ON whole_years.year = year(months.month) AND whole_years.commission > 0
    GROUP BY ALL
),

this_year AS (
    SELECT month(month) AS month_of_year, commission, homes, is_complete
    FROM months
    WHERE year(month) = (SELECT max(year(month)) FROM months WHERE NOT is_open) AND NOT is_open
),

so_far AS (
    SELECT sum(this_year.commission) / nullif(sum(usual.usual_share), 0) AS likely_year
    FROM this_year
    INNER JOIN usual USING (month_of_year)
    WHERE this_year.is_complete
)

SELECT
    month_of_year,
    round(100 * usual.usual_share, 1) AS usual_percent_of_year,
    usual.year_count AS from_years,
    this_year.commission,
    round(so_far.likely_year * usual.usual_share, 0) AS expected,
    this_year.homes AS homes_sold
FROM usual
FULL JOIN this_year USING (month_of_year)
CROSS JOIN so_far
ORDER BY month_of_year;
