"""What analysts open: the published file, its versions, and tables exported from it."""
