"""jobu itself, on each database."""
