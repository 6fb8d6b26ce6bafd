"""The client of the Connect service: requests, retries, limits and errors."""
