"""Ways to look at a table."""
