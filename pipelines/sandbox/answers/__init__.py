"""The answers of the service, a module for each family of reports."""
