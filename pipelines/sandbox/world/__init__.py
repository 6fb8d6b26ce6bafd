"""What happened at the brokers of the sandbox? Facts, each with the moment it became known."""
