"""Planning: windows, what is due, and the plan of a sync."""
