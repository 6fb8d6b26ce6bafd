"""The reports of the service, as data."""
