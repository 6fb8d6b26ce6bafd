-- Which commissions have been due the longest?
-- One row per sale past possession whose commission has not been received, at offices that note receipts. A receipt
-- dated after the day of counting does not count yet. Amounts are as in receivables: declared VAT is not deducted.
SELECT
    due.office_id,
    coalesce(due.office_name, due.office_id) AS office_name,
    coalesce(sales.street_address, due.estate_number, due.estate_id) AS home,
    coalesce(shared.agents, users.user_label, sales.responsible_user_name) AS agent,
    due.access_on,
    due.days_due,
    due.commission_received_on AS to_be_received_on,
    due.due_commission AS due
FROM marts.receivables AS due
LEFT JOIN marts.sales AS sales USING (estate_id)
LEFT JOIN marts.users AS users ON users.user_id = sales.responsible_user_id
LEFT JOIN (
    SELECT
        sold.estate_id,
        string_agg(coalesce(agents.user_label, sold.user_name), ', ' ORDER BY sold.commission_share DESC, sold.user_id) AS agents
    FROM marts.sale_shares AS sold
    LEFT JOIN marts.users AS agents USING (user_id)
    GROUP BY ALL
) AS shared USING (estate_id)
WHERE due.state = 'due' AND due.due_commission > 0 AND due.is_receipt_noted
ORDER BY due.office_id, due.days_due DESC, due.due_commission DESC, due.estate_id
