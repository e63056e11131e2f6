"""The HTTP API of jobu: `path("api/jobu/", include("jobu.api.urls"))`."""

from jobu.exceptions import MissingExtraError

try:
    import ninja  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        'The HTTP API of jobu needs django-ninja: pip install "django-jobu[api]"'
    ) from error
