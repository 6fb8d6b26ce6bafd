"""Sync: missing and due months are planned, fetched and loaded."""
