"""Settings: the model, where values come from, and the messages about them."""
