-- What do the numbers rest on that nobody has documented, and does what has arrived speak against it?
-- One row per assumption.
-- Key: assumption
-- Columns:
--   assumption: what is assumed, in a sentence
--   concerns: the tables whose numbers rest on it
--   state: fits, where nothing that has arrived speaks against it; differs, where something does; nothing has arrived,
--     where there is nothing yet to tell by; cannot be told, where no answer could speak against it
--   evidence: what speaks for or against it; null where there is nothing to say
WITH budgets AS MATERIALIZED (  -- as they are read twice
    SELECT user_id, office_id, is_total FROM staging.budgets WHERE valid_to_utc IS NULL
)

SELECT
    'A user under several customers without an office in common is reported by each with what was earned there, so that '
    || 'the answers are added up' AS assumption,
    'marts.user_month, marts.user_sources' AS concerns,
    CASE
        WHEN count(*) = 0 THEN 'nothing has arrived'
        WHEN 2 * count(*) FILTER (has_equal_amounts) >= count(*) THEN 'differs'
        ELSE 'fits'
    END AS state,
    CASE
        WHEN count(*) > 0
            THEN count(*) FILTER (has_equal_amounts) || ' of ' || count(*) || ' months of such users have equal amounts '
            || 'in two answers, as if each had the whole: marts.users_added_up'
    END AS evidence
FROM marts.users_added_up
UNION ALL
SELECT
    'An estate id stands for one home, whichever customer is asked, so that a sale named twice is one',
    'marts.sales, marts.sale_shares, marts.sale_versions',
    CASE
        WHEN EXISTS (FROM marts.ambiguous_estates) THEN 'differs'
        WHEN EXISTS (FROM marts.sales) THEN 'fits'
        ELSE 'nothing has arrived'
    END,
    CASE
        WHEN count(*) > 0
            THEN count(*) || ' sales are left out, as another home has their estate id: marts.ambiguous_estates'
    END
FROM marts.ambiguous_estates
UNION ALL
SELECT
    'A row of the sales report is a sale, unless its kind of assignment is called a valuation or a writing',
    'marts.sales, marts.sale_shares, marts.same_days',
    CASE WHEN count(*) = 0 THEN 'nothing has arrived' ELSE 'fits' END,
    string_agg(
        row_count || if(is_sale, ' counted of ', ' left out of ') || coalesce('kind ' || assignment, 'no kind')
        || ', with a commission of ' || coalesce(commission, 0),
        '; ' ORDER BY row_count DESC, assignment
    )
FROM (
    SELECT assignment, is_sale, count(*) AS row_count, round(sum(commission))::BIGINT AS commission
    FROM staging.sales_estates AS estates
    SEMI JOIN marts.office_sources AS sources
        ON sources.report = 'sales'
        AND sources.office_id = estates.office_id
        AND sources.month = estates.month
        AND sources.customer_id = estates.customer_id
    GROUP BY ALL
)
UNION ALL
SELECT
    'A budget row that is the sum of the other users of its office, of no user, or in three months or more of an id that no '
    || 'report knows, is their total and no budget',
    'marts.budgets',
    CASE WHEN count(*) = 0 THEN 'nothing has arrived' ELSE 'fits' END,
    CASE
        WHEN count(*) > 0
            THEN count(*) || if(count(*) = 1, ' row is', ' rows are') || ' left out'
            || ', of ' || string_agg(DISTINCT coalesce(user_id, 'no user'), ', ' ORDER BY coalesce(user_id, 'no user'))
    END
FROM budgets
WHERE is_total
UNION ALL
SELECT
    'A budget row that names no office is of the office asked for, or of the only one where its user sells',
    'marts.budgets',
    CASE WHEN count(*) = 0 THEN 'nothing has arrived' WHEN count(office_id) = count(*) THEN 'fits' ELSE 'differs' END,
    CASE
        WHEN count(*) > count(office_id)
            THEN count(*) - count(office_id) || ' of ' || count(*) || ' rows are of no office that is known, and in no mart'
    END
FROM budgets
UNION ALL
SELECT
    'A running commission may be part of the commission of its month or stand beside it, so the two are never added',
    'marts.running_commissions, marts.office_month, marts.user_month, marts.chain_month',
    'cannot be told',
    NULL
UNION ALL
SELECT
    'A trademark names its offices, or is that of all offices of the customer asked',
    'marts.offices, marts.brand_month',
    CASE
        WHEN count(*) = 0 THEN 'nothing has arrived'
        WHEN count(*) FILTER (trademark IS NOT NULL AND office_id IS NOT NULL) > 0 THEN 'fits'
        ELSE 'differs'
    END,
    (SELECT count(*) FILTER (brand IS NULL) || ' of ' || count(*) || ' offices have no known brand' FROM marts.offices)
FROM staging.trademarks
ORDER BY ALL
