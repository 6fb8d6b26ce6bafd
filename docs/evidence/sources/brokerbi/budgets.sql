SELECT * FROM marts.office_budget_vs_actual WHERE measure = 'commission' AND NOT is_open
