"""Celery with Redis."""
