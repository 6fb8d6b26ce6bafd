"""Dagster definitions: assets, checks, partitions, schedules and sensors."""
