"""Upkeep of a data directory: marts and the published file with its pages and exports, replay, erasure."""
