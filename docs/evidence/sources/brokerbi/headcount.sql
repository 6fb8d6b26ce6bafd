SELECT * FROM marts.headcount_month WHERE level = 'chain' AND NOT is_open
