"""Which reports are there, and what does each look like? All of it as data."""
