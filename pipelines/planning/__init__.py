"""Planning: due months, their windows, and the plan of a sync."""
