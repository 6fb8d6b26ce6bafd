"""A Connect service in memory over a seeded world, on a loopback socket or as a transport of httpx."""
