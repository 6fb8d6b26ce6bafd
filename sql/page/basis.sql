-- Do amounts include VAT, and since when does the page report changes?
-- One row. VAT that the settings declare as included is deducted on all pages, so that commissions can be compared with
-- budgets without VAT. The rate is the one in the settings; without one, the Swedish rate of 25 percent.
WITH published AS (
    SELECT arg_max(at_utc, rowid) AS at_utc, arg_max(name, rowid) AS version, arg_max(loads, rowid) AS loads
    FROM meta.publications
    WHERE status = 'published'
)

SELECT
    coalesce(declared.commission_vat, 'unknown') AS commission_vat,
    coalesce(declared.vat_rate, 0.25)::DECIMAL(9, 6) AS vat_rate,
    published.version,
    published.at_utc AS published_utc,
    published.loads,
    since.since_utc
FROM published
LEFT JOIN meta.tax_basis AS declared ON true
CROSS JOIN meta.news_since AS since
