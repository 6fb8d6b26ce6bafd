"""Marts, checks and the dictionary, built from the files of sql, and the lineage of their numbers."""
