"""What would the Connect service answer? A service in memory, a stranger to the client."""
