"""Customer: what is kept alike in several databases."""

from django.db import models


class Customer(models.Model):
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=100)

    def __str__(self) -> str:
        return self.email
