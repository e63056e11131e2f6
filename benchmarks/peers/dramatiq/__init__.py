"""dramatiq with Redis."""
