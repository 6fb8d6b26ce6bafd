"""A Connect service in memory over a seeded world, on a loopback socket or, in tests, without a network."""
