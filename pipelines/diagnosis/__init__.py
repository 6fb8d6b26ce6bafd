"""Diagnosis: what is wrong with an installation, and where a number comes from."""
