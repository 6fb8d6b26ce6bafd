"""The way of one window's rows into the tables, and of its answers into landing."""
