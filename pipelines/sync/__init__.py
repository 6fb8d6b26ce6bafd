"""Sync: what is missing or due is planned, fetched, loaded and published."""
