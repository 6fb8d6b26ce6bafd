SELECT * FROM marts.chain_month WHERE NOT is_open
