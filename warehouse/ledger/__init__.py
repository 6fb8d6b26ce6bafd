"""What is held of every report, customer and month, what was asked, and what is wrong."""
