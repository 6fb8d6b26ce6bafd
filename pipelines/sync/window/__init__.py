"""One window: requested, read until it is proven whole, landed, and turned into rows."""
