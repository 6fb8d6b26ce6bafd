"""Rows as columns: their values by type, their months, and which rows do not fit."""
