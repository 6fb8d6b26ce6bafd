"""Budgets written back to the service: read from a file, planned, and pushed one by one."""
