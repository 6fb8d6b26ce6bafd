SELECT * FROM marts.commission_drivers WHERE period = 'year to date'
