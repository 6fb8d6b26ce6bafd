"""Rows in motion: from the Connect service to the warehouse, without Dagster."""
