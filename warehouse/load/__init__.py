"""Loading: a window's answers into landing, and its rows into the tables."""
