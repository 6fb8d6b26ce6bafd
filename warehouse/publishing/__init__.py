"""The published file, its versions, and tables exported from it."""
