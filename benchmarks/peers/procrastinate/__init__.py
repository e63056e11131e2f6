"""procrastinate, by itself and in Django."""
