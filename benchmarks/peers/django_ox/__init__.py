"""django-ox."""
