"""The seeded world of the sandbox: facts, each with the moment it became known."""
