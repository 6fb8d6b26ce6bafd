"""What exists in Dagster, and when is it refreshed?"""
