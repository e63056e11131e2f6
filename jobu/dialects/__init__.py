"""All knowledge of database vendors: one module each, one interface (`Dialect`)."""

from jobu.dialects.base import Dialect
from jobu.dialects.bounds import bounded, statement_bound
from jobu.dialects.literals import default_literals, literal
from jobu.dialects.lookup import dialect_for, dialect_of
from jobu.dialects.migrated import not_migrated
from jobu.dialects.now import DatabaseNow, SecondsUntil, database_time
from jobu.dialects.primary_key import pass_over_primary_key

__all__ = [
    "DatabaseNow",
    "Dialect",
    "SecondsUntil",
    "bounded",
    "database_time",
    "default_literals",
    "dialect_for",
    "dialect_of",
    "literal",
    "not_migrated",
    "pass_over_primary_key",
    "statement_bound",
]
