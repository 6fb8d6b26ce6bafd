"""Answers of the service as typed tables, with nothing lost."""
