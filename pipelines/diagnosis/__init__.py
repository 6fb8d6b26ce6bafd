"""Diagnosis: the faults of an installation, and the origin of a number."""
