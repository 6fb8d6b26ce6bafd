"""Stored months of reports and customers, requests, and conditions."""
