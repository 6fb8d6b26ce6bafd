-- Which figures are there, and how is each computed?
-- One row per figure, by subject in the order of the file.
SELECT metric, subject, mart, expression, grain, unit, is_additive, basis, label_en, label_sv
FROM meta.metrics
