"""The HTTP API of jobu: `path("api/jobu/", include("jobu.api.urls"))`."""

from jobu.exceptions import MissingExtraError
from jobu.installed import install_command

try:
    import ninja  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        f"The HTTP API of jobu needs django-ninja: {install_command('api')}"
    ) from error
