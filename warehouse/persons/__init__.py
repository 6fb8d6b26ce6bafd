"""Erasure of a person from every file, and the rebuilding of the working file."""
