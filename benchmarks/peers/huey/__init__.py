"""huey with Redis and with SQLite."""
