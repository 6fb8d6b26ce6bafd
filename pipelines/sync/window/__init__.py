"""One window: requested, read until it is proven complete, landed, and turned into rows."""
