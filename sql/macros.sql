-- Expressions that several queries share: temporary macros, made when marts are built or the published file is read,
-- and stored in no file.

-- A row of bi is passed to a macro under an alias that begins with `_`, such as `_totals`. Without the `_`, a column of
-- the service with the same name would be passed instead.

-- The local time of a moment in UTC, and its day, in the chain's time zone.
CREATE OR REPLACE TEMP MACRO local_time(at_utc) AS
    timezone(coalesce(getvariable('timezone'), 'UTC'), timezone('UTC', at_utc));
CREATE OR REPLACE TEMP MACRO local_day(at_utc) AS local_time(at_utc)::DATE;

-- The share of a month that has passed at a local time: to the hour, because answers include contracts of the same day.
CREATE OR REPLACE TEMP MACRO passed_share_of(month, at_local) AS
    greatest(least(
        date_diff('hour', month::TIMESTAMP, at_local) / date_diff('hour', month::TIMESTAMP, month + INTERVAL 1 MONTH), 1
    ), 0);

-- The commission from sales alone: the whole commission if there are no writing assignments and valuations; else
-- sales_commission (from a report of sales alone); else the service's average commission times the parts sold.
CREATE OR REPLACE TEMP MACRO sold_commission(totals, sales_commission) AS
    CASE
        WHEN totals.writing_parts = 0 AND totals.valuation_parts = 0 THEN totals.commission
        WHEN sales_commission IS NOT NULL THEN sales_commission
        WHEN totals.sold_estate_parts = 0 THEN 0
        ELSE round(totals.sold_average_commission::DECIMAL(28, 4) * totals.sold_estate_parts, 2)
    END;

-- The office id without its leading letters.
CREATE OR REPLACE TEMP MACRO office_number(office_id) AS ltrim(office_id, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ');

-- An id as the row has it; null if it is blank or only zeros, which identifies nothing.
CREATE OR REPLACE TEMP MACRO id_or_null(raw_id) AS
    CASE WHEN NOT regexp_full_match(raw_id::VARCHAR, '\s*(0+(\.0+)?|0{8}-0{4}-0{4}-0{4}-0{12})?\s*') THEN raw_id::VARCHAR END;

-- The side of a lead: a 'seller' asks for a valuation or wants to sell, a 'buyer' is interested in a home. Kinds of leads
-- are free text, so they are recognized by words, Swedish and English; adapt here. Null if no word matches.
CREATE OR REPLACE TEMP MACRO lead_side(way, lead_type) AS
    CASE
        WHEN way <> 'incoming lead' THEN NULL
        WHEN regexp_matches(lower(lead_type), 'värder|varder|sälj|salj|intag|valuation|apprais|sell|acceptobject')
            THEN 'seller'
        WHEN regexp_matches(lower(lead_type), 'spekul|intress|visning|bevak|budgiv|köp|buyer|viewing|interest|prospect')
            THEN 'buyer'
    END;

-- Whether a row of the sales report is a sale. Kinds of assignment are free text, so valuations, and contracts
-- without a sale, are recognized by words, Swedish and English; adapt here. Any other kind, or none, is a sale.
CREATE OR REPLACE TEMP MACRO is_sale(assignment) AS
    coalesce(
        regexp_matches(lower(assignment), 'sälj|salj|sale|sold')
        OR NOT regexp_matches(lower(assignment), 'värder|varder|valuation|apprais|skriv|writing'),
        true
    );

-- The numbers of a row (as JSON) that count something, each with its name: all but our columns, ids, years and months.
-- A number in text is included, unless its name has `phone`, `mobile` or `code`, or ends with `number`. A text that is a
-- number in two ways, such as "1.250", has no amount.
CREATE OR REPLACE TEMP MACRO counts_in(answer_row) AS
    list_transform(
        list_filter(
            json_keys(answer_row),
            LAMBDA _name: NOT regexp_matches(_name, '^_|id$|(^|_)(year|month)$')
                AND (json_type(answer_row, '$."' || _name || '"') IN ('BIGINT', 'UBIGINT', 'DOUBLE')
                    OR regexp_full_match(answer_row ->> _name, '-?(\d{1,9}|[1-9]\d{0,2}([ .,\x{00a0}\x{202f}]\d{3})+)([.,]\d+)?')
                    AND NOT regexp_matches(_name, 'phone|mobile|code|number$'))
        ),
        LAMBDA _name: {'measure': _name, 'amount': CASE WHEN (answer_row -> _name)::VARCHAR NOT SIMILAR TO '"-?[1-9]\d{0,2}[.,]\d{3}"' THEN answer_row ->> _name END}
    );

-- The one of three amounts that belongs to the measure; null for any other measure.
CREATE OR REPLACE TEMP MACRO amount_of(measure, commission, price, estate_parts) AS
    CASE measure WHEN 'commission' THEN commission WHEN 'sold_total_price' THEN price WHEN 'sold_estate_parts' THEN estate_parts END;

-- A sum of amounts; null if one of them is unknown.
CREATE OR REPLACE TEMP MACRO sum_if_known(amount) AS
    CASE WHEN count(*) = count(amount) THEN sum(amount) END;

-- The total of a loaded report: zero if it has no rows, null if none of its rows has the amount.
CREATE OR REPLACE TEMP MACRO total_of(has_rows, amount) AS CASE WHEN has_rows THEN amount ELSE 0 END;

-- The total of an office or user in a report: null if the report is not loaded, or if it lacks rows and has none of this
-- office or user.
CREATE OR REPLACE TEMP MACRO total_if_loaded(is_loaded, has_rows, lacks_rows, amount) AS
    CASE WHEN is_loaded THEN total_of(has_rows OR lacks_rows, amount) END;

-- The figures of a commission report in a month, and figures computed from them, for unnest; `earned` is the row with
-- its sums.
CREATE OR REPLACE TEMP MACRO totals_of_commission(is_loaded, has_rows, lacks_rows, earned) AS {
    'commission': total_if_loaded(is_loaded, has_rows, lacks_rows, earned.commission),
    'sold_commission': total_if_loaded(is_loaded, has_rows, lacks_rows, earned.sold_commission),
    'sold_total_price': total_if_loaded(is_loaded, has_rows, lacks_rows, earned.sold_total_price),
    'sold_estate_parts': total_if_loaded(is_loaded, has_rows, lacks_rows, earned.sold_estate_parts),
    'sold_average_commission': (earned.sold_commission / nullif(earned.sold_estate_parts, 0))::DECIMAL(18, 4),
    'average_price': (earned.sold_total_price / nullif(earned.sold_estate_parts, 0))::DECIMAL(18, 4),
    'sold_commission_percentage': (100 * earned.sold_commission / nullif(earned.sold_total_price, 0))::DECIMAL(19, 8),
    'writing_parts': total_if_loaded(is_loaded, has_rows, lacks_rows, earned.writing_parts),
    'valuation_parts': total_if_loaded(is_loaded, has_rows, lacks_rows, earned.valuation_parts)
};

-- The figures of the report of tips and leads in a month, for unnest; `leads` is the row with its counts.
CREATE OR REPLACE TEMP MACRO totals_of_leads(is_loaded, has_rows, lacks_rows, leads) AS {
    'incoming_lead_count': total_if_loaded(is_loaded, has_rows, lacks_rows, leads.incoming),
    'outgoing_lead_count': total_if_loaded(is_loaded, has_rows, lacks_rows, leads.outgoing),
    'tip_count': total_if_loaded(is_loaded, has_rows, lacks_rows, leads.tips),
    'removed_lead_count': total_if_loaded(is_loaded, has_rows, lacks_rows, leads.removed)
};

-- A commission without the declared VAT: `basis` is the row of marts.tax_basis.
CREATE OR REPLACE TEMP MACRO without_vat(commission, basis) AS
    CASE
        WHEN basis.commission_vat = 'included' THEN (commission / (1 + basis.vat_rate))::DECIMAL(18, 4)
        ELSE commission
    END;

-- An aggregate: commission per agent and active month, over the offices whose user report is loaded.
CREATE OR REPLACE TEMP MACRO per_active_agent(commission, active_agent_count) AS
    sum(commission) FILTER (active_agent_count IS NOT NULL)
    / nullif(sum(active_agent_count) FILTER (commission IS NOT NULL), 0);

-- Whether the rest of a month is missing, because it was last read before its end.
CREATE OR REPLACE TEMP MACRO lacks_rest(is_cut_short, is_unfinished) AS is_cut_short OR is_unfinished;

-- Whether a month is at least the third in a row without a trace of an office or agent.
CREATE OR REPLACE TEMP MACRO is_without_trace(last_active_month, month) AS month > last_active_month + INTERVAL 2 MONTH;

-- The name of the budget of a measure: 'sold estates' for sold_estate_parts and for budget_sold_estates.
CREATE OR REPLACE TEMP MACRO budget_of(measure) AS
    CASE measure
        WHEN 'commission' THEN 'commission'
        WHEN 'sold_estate_parts' THEN 'sold estates'
        ELSE replace(regexp_extract(measure, '^budget_(.*)', 1), '_', ' ')
    END;

-- Whether a row of this office or user belongs to the explained number: for the chain, all rows do.
CREATE OR REPLACE TEMP MACRO is_of_number(of_office_id, of_user_id) AS
    CASE getvariable('kind')
        WHEN 'office' THEN of_office_id = getvariable('id')
        WHEN 'user' THEN of_user_id = getvariable('id')
        ELSE true
    END;

-- Whether the explained number comes from a commission report.
CREATE OR REPLACE TEMP MACRO is_of_commissions() AS starts_with(getvariable('report'), 'commission');

-- The text of an amount, without its blanks and currency.
CREATE OR REPLACE TEMP MACRO plain_amount(amount_text) AS
    regexp_replace(regexp_replace(lower(amount_text), '(kr|sek|kronor|:-)\.?\s*$', ''), '[\s\x{00a0}\x{202f}]', '', 'g');

-- An amount in free text: "4 250 000 kr", "4.250.000", "4250000,50"; null if it is not a number. A point or a
-- comma before three digits separates thousands; before one or two digits, it separates kronor and öre.
CREATE OR REPLACE TEMP MACRO parsed_amount(amount_text) AS
    CASE
        WHEN regexp_full_match(plain_amount(amount_text), '\d{1,3}([.,]\d{3})+')
            THEN TRY_CAST(regexp_replace(plain_amount(amount_text), '[.,]', '', 'g') AS DECIMAL(18, 4))
        WHEN regexp_full_match(plain_amount(amount_text), '\d+([.,]\d{1,2})?')
            THEN TRY_CAST(replace(plain_amount(amount_text), ',', '.') AS DECIMAL(18, 4))
    END;

-- The parts in which a large mart is built, half a million rows each, so that the memory it takes does not grow with
-- its rows. Used in the line `For each` of the mart's header.
CREATE OR REPLACE TEMP MACRO parts_of(row_count) AS TABLE
    SELECT unnest(range(1 + row_count // 500_000)) AS part, 1 + row_count // 500_000 AS part_count;

-- Whether an id belongs to the part that is being built.
CREATE OR REPLACE TEMP MACRO is_of_part(id) AS
    hash(id) % getvariable('part_count') = getvariable('part');

-- The chain's time zone, null if no run has recorded it. It comes last, because old files lack the table.
SET VARIABLE timezone = (SELECT any_value(timezone) FROM meta.clock);
