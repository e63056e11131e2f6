"""django-q2 with the ORM and with Redis."""
