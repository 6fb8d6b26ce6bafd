-- What do the columns of a table mean, in which unit, and are they documented?
-- One row per column; here of marts.office_month.
--
-- The same words stand as comments on the tables and columns, where DBeaver and other tools show them.
SELECT column_name, type, description, is_documented, source
FROM meta.dictionary
WHERE schema_name = 'marts' AND table_name = 'office_month' AND kind = 'column';
