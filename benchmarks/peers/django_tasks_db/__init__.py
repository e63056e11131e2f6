"""django-tasks-db."""
