"""Months of reports and customers that are stored, requests, and conditions."""
