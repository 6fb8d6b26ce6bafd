"""The working file: locked, opened, checkpointed and replaced."""
