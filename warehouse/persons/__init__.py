"""Erasure of a person from every file, and the rebuilding that follows."""
