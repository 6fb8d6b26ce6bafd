"""Marts, checks and the dictionary, built from the files of sql, and where their columns come from."""
