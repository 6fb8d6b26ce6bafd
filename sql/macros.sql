-- Expressions that several queries share: temporary, there while marts are built or the published file is read, and in no
-- file.

-- A row whose columns nobody has documented is given to a macro as JSON: to_json(_row_of_it), under an alias that begins
-- with `_`, as no column of the service does, so that none can be taken for the row.

-- A moment in UTC, and its day, in the chain's time zone: `clock` is the row of staging.clock, or of meta.clock.
CREATE OR REPLACE TEMP MACRO local_time(at_utc, clock) AS
    timezone(coalesce(clock.timezone, 'UTC'), timezone('UTC', at_utc));
CREATE OR REPLACE TEMP MACRO local_day(at_utc, clock) AS local_time(at_utc, clock)::DATE;

-- How much of a month has passed at a local time, to the hour: what was signed earlier that day is in what was read.
CREATE OR REPLACE TEMP MACRO passed_share_of(month, at_local) AS
    greatest(least(
        date_diff('hour', month::TIMESTAMP, at_local) / date_diff('hour', month::TIMESTAMP, month + INTERVAL 1 MONTH), 1
    ), 0);

-- The commission from sales alone: all of it without writings and valuations, else what the same report asked for
-- sales alone says, else the service's average times the parts.
CREATE OR REPLACE TEMP MACRO sold_commission(asked, asked_for_sales) AS
    CASE
        WHEN asked.writing_parts = 0 AND asked.valuation_parts = 0 THEN asked.commission
        WHEN asked_for_sales IS NOT NULL THEN asked_for_sales
        WHEN asked.sold_estate_parts = 0 THEN 0
        ELSE round(asked.sold_average_commission::DECIMAL(28, 4) * asked.sold_estate_parts, 2)
    END;

-- The number of an office's id, without the letters before it.
CREATE OR REPLACE TEMP MACRO office_number(office_id) AS ltrim(office_id, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ');

-- An id as a row says it; null if it is blank or zeros alone, which are of nothing.
CREATE OR REPLACE TEMP MACRO id_set(said_id) AS
    CASE WHEN NOT regexp_full_match(said_id::VARCHAR, '\s*(0+(\.0+)?|0{8}-0{4}-0{4}-0{4}-0{12})?\s*') THEN said_id::VARCHAR END;

-- Whose lead it is: 'seller' asks for a valuation or wants to sell, 'buyer' is interested in a home. Kinds of leads
-- are free text, so they are known by words, Swedish and English; adapt here. Null where the words say neither: what
-- became of the home must not decide it, or only sold homes would have had sellers.
CREATE OR REPLACE TEMP MACRO lead_side(way, lead_type) AS
    CASE
        WHEN way <> 'incoming lead' THEN NULL
        WHEN regexp_matches(lower(lead_type), 'värder|varder|sälj|salj|intag|valuation|apprais|sell|acceptobject')
            THEN 'seller'
        WHEN regexp_matches(lower(lead_type), 'spekul|intress|visning|bevak|budgiv|köp|buyer|viewing|interest|prospect')
            THEN 'buyer'
    END;

-- Whether a row of the sales report is a sale. Kinds of assignment are free text, so valuations and writings, that is
-- contracts without a sale, are known by words, Swedish and English; adapt here. Any other kind is a sale, and so is none.
CREATE OR REPLACE TEMP MACRO is_sale(assignment) AS
    coalesce(
        regexp_matches(lower(assignment), 'sälj|salj|sale|sold')
        OR NOT regexp_matches(lower(assignment), 'värder|varder|valuation|apprais|skriv|writing'),
        true
    );

-- All numbers in a row that count something, each with its name: neither ours, nor ids, nor the year and month. Those that
-- are written as texts count as well, but not under names that numbers without a quantity have.
CREATE OR REPLACE TEMP MACRO counted_in(said) AS
    list_transform(
        list_filter(
            json_keys(said),
            LAMBDA _name: NOT regexp_matches(_name, '^_|id$|(^|_)(year|month)$')
                AND (json_type(said, '$."' || _name || '"') IN ('BIGINT', 'UBIGINT', 'DOUBLE')
                    OR regexp_full_match(said ->> _name, '-?\d{1,9}(\.\d+)?') AND NOT regexp_matches(_name, 'phone|code|number$'))
        ),
        LAMBDA _name: {'measure': _name, 'amount': said ->> _name}
    );

-- Which of these amounts of the office report the measure is; null of any other.
CREATE OR REPLACE TEMP MACRO amount_of(measure, commission, price, estate_parts) AS
    CASE measure WHEN 'commission' THEN commission WHEN 'sold_total_price' THEN price WHEN 'sold_estate_parts' THEN estate_parts END;

-- A sum of amounts; null if one of them is unknown.
CREATE OR REPLACE TEMP MACRO sum_if_known(amount) AS
    CASE WHEN count(*) = count(amount) THEN sum(amount) END;

-- What a report that is loaded adds up to: zero where it has no rows, null if none of its rows has the amount.
CREATE OR REPLACE TEMP MACRO total_of(has_rows, amount) AS CASE WHEN has_rows THEN amount ELSE 0 END;

-- The same of an office or user, of a report that may not be loaded, and where it is may lack rows that could not be loaded:
-- null if it is not loaded, or lacks rows and has none of them.
CREATE OR REPLACE TEMP MACRO total_held(is_held, has_rows, lacks_rows, amount) AS
    CASE WHEN is_held THEN total_of(has_rows OR lacks_rows, amount) END;

-- The numbers of a report of commissions in a month, and what follows from them: `earned` is the row with its sums. For unnest.
CREATE OR REPLACE TEMP MACRO totals_of_commission(is_held, has_rows, lacks_rows, earned) AS {
    'commission': total_held(is_held, has_rows, lacks_rows, earned.commission),
    'sold_commission': total_held(is_held, has_rows, lacks_rows, earned.sold_commission),
    'sold_total_price': total_held(is_held, has_rows, lacks_rows, earned.sold_total_price),
    'sold_estate_parts': total_held(is_held, has_rows, lacks_rows, earned.sold_estate_parts),
    'sold_average_commission': (earned.sold_commission / nullif(earned.sold_estate_parts, 0))::DECIMAL(18, 4),
    'average_price': (earned.sold_total_price / nullif(earned.sold_estate_parts, 0))::DECIMAL(18, 4),
    'sold_commission_percentage': (100 * earned.sold_commission / nullif(earned.sold_total_price, 0))::DECIMAL(19, 8),
    'writing_parts': total_held(is_held, has_rows, lacks_rows, earned.writing_parts),
    'valuation_parts': total_held(is_held, has_rows, lacks_rows, earned.valuation_parts)
};

-- The numbers of the report of tips and leads in a month: `leads` is the row that counts them. For unnest.
CREATE OR REPLACE TEMP MACRO totals_of_leads(is_held, has_rows, lacks_rows, leads) AS {
    'incoming_lead_count': total_held(is_held, has_rows, lacks_rows, leads.incoming),
    'outgoing_lead_count': total_held(is_held, has_rows, lacks_rows, leads.outgoing),
    'tip_count': total_held(is_held, has_rows, lacks_rows, leads.tips),
    'removed_lead_count': total_held(is_held, has_rows, lacks_rows, leads.removed)
};

-- A commission without VAT, as far as is declared: `basis` is the row of marts.tax_basis.
CREATE OR REPLACE TEMP MACRO without_vat(commission, basis) AS
    CASE
        WHEN basis.commission_vat = 'included' THEN (commission / (1 + basis.vat_rate))::DECIMAL(18, 4)
        ELSE commission
    END;

-- Commission by the months in which agents were active, of the offices whose user report is loaded. An aggregate.
CREATE OR REPLACE TEMP MACRO per_active_agent(commission, active_agent_count) AS
    sum(commission) FILTER (active_agent_count IS NOT NULL)
    / nullif(sum(active_agent_count) FILTER (commission IS NOT NULL), 0);

-- Whether the rest of a month is missing: it was last read before its end.
CREATE OR REPLACE TEMP MACRO lacks_rest(is_cut_short, is_unfinished) AS is_cut_short OR is_unfinished;

-- Whether a month is the third or a later one without a trace of an office or an agent.
CREATE OR REPLACE TEMP MACRO is_without_trace(last_active_month, month) AS month > last_active_month + INTERVAL 2 MONTH;

-- The budget that a measure of the months is compared with, or that is requested by its own name.
CREATE OR REPLACE TEMP MACRO budget_of(measure) AS
    CASE measure
        WHEN 'commission' THEN 'commission'
        WHEN 'sold_estate_parts' THEN 'sold estates'
        ELSE replace(regexp_extract(measure, '^budget_(.*)', 1), '_', ' ')
    END;

-- Whether a row of this office or user is of the number that is explained: all are of the chain's.
CREATE OR REPLACE TEMP MACRO is_asked_for(asked_office_id, asked_user_id) AS
    CASE getvariable('kind')
        WHEN 'office' THEN asked_office_id = getvariable('id')
        WHEN 'user' THEN asked_user_id = getvariable('id')
        ELSE true
    END;

-- Whether the number that is explained is of a report of commissions.
CREATE OR REPLACE TEMP MACRO is_of_commissions() AS starts_with(getvariable('report'), 'commission');

-- Whether a row of this level, member and month surrounds the number that is explained.
-- Whether sales make the number that is explained; how many are active they do not.
-- An amount without blanks and currency.
CREATE OR REPLACE TEMP MACRO plain_amount(written) AS
    regexp_replace(regexp_replace(lower(written), '(kr|sek|kronor|:-)\.?\s*$', ''), '[\s\x{00a0}\x{202f}]', '', 'g');

-- An amount as somebody wrote it: "4 250 000 kr", "4.250.000", "4250000,50"; null if it is not a number. A point or a
-- comma before three digits is between thousands, before one or two between kronor and öre.
CREATE OR REPLACE TEMP MACRO amount_written(written) AS
    CASE
        WHEN regexp_full_match(plain_amount(written), '\d{1,3}([.,]\d{3})+')
            THEN TRY_CAST(regexp_replace(plain_amount(written), '[.,]', '', 'g') AS DECIMAL(18, 4))
        WHEN regexp_full_match(plain_amount(written), '\d+([.,]\d{1,2})?')
            THEN TRY_CAST(replace(plain_amount(written), ',', '.') AS DECIMAL(18, 4))
    END;

-- The parts in which a mart of very many rows is built, half a million rows each, so that it needs no more memory the more
-- there are: for a line `For each`.
CREATE OR REPLACE TEMP MACRO parts_of(row_count) AS TABLE
    SELECT unnest(range(1 + row_count // 500_000)) AS part, 1 + row_count // 500_000 AS part_count;

-- Whether all of an id is in the part that is built.
CREATE OR REPLACE TEMP MACRO is_of_part(id) AS
    hash(id) % getvariable('part_count') = getvariable('part');
