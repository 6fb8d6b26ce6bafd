SELECT commission_basis FROM marts.tax_basis
