"""ApiToken: lets a program use the HTTP API without a user's session."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, ClassVar, Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from jobu.dialects import DatabaseNow
from jobu.models.fields import ExactCharField

if TYPE_CHECKING:
    from django.db.models.manager import Manager

_PREFIX = "jobu_"
_SECRET_BYTES = 32


class Scope(models.TextChoices):
    READ = "read", _("read")
    WRITE = "write", _("read and write")


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def valid(self) -> Self:
        """Not revoked."""
        return self.filter(revoked_at__isnull=True)

    def revoke(self) -> int:
        """Refuse them from now on; return how many were still valid."""
        return self.valid().update(revoked_at=DatabaseNow())


class ApiToken(models.Model):
    name = ExactCharField(
        max_length=100, unique=True, help_text=_("Who will use it, such as ci or grafana.")
    )
    secret_hash = ExactCharField(max_length=64, unique=True, editable=False)
    scope = ExactCharField(max_length=10, choices=Scope, default=Scope.READ)
    # A name, not a foreign key: users may live in another database than jobu's tables.
    created_by = models.CharField(max_length=254, blank=True, default="", editable=False)
    created_at = models.DateTimeField(db_default=DatabaseNow(), editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[Manager[ApiToken]] = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(scope__in=Scope.values), name="jobu_token_scope_known"
            ),
        ]

    def __str__(self) -> str:
        return str(self.name)

    def renew_secret(self) -> str:
        """Give it a new secret, to be saved, and return that: the only time it is known."""
        secret = _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        self.secret_hash = hash_of(secret)
        return secret


def hash_of(secret: str) -> str:
    """Return what is stored. One round is enough: nobody guesses 256 random bits."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
