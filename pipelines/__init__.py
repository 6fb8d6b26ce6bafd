"""How do rows get from the Connect service to the warehouse? Rows in motion, without Dagster."""
