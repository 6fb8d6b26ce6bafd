"""Runs of Dagster: what is under way, what becomes of partitions, and how that is said."""
