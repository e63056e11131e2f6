"""The errors of the API: one form for all, without internal details."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.core.exceptions import NON_FIELD_ERRORS, RequestDataTooBig
from django.core.exceptions import ValidationError as ModelError
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError, ProgrammingError
from django.http import JsonResponse
from django.utils.log import log_response
from ninja.errors import AuthenticationError, HttpError, ValidationError

from jobu import logs
from jobu.dialects import not_migrated
from jobu.exceptions import (
    DedupeKeyError,
    HandlerNotFoundError,
    MaskedError,
    NotJSONError,
    NotMigratedError,
    OptionError,
    ParamsError,
)

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from ninja import NinjaAPI

Fields = dict[str, list[str]]

_INVALID = "Some of what was sent is not valid; see fields."


class ApiError(Exception):
    """End the request with this answer."""

    def __init__(self, status: int, code: str, message: str, fields: Fields | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.fields = fields or {}


def unauthenticated(message: str) -> ApiError:
    return ApiError(401, "unauthenticated", message)


def forbidden(message: str, code: str = "forbidden") -> ApiError:
    return ApiError(403, code, message)


def not_found(message: str) -> ApiError:
    return ApiError(404, "not_found", message)


def conflict(message: str, fields: Fields | None = None) -> ApiError:
    """The request is valid, but the current state does not allow it."""
    return ApiError(409, "conflict", message, fields)


def invalid(fields: Fields, message: str = _INVALID) -> ApiError:
    return ApiError(422, "invalid", message, fields)


def answer(error: ApiError) -> HttpResponse:
    body = {"code": error.code, "message": error.message, "fields": error.fields}
    headers = {"WWW-Authenticate": "Bearer"} if error.status == HTTPStatus.UNAUTHORIZED else None
    response = JsonResponse({"error": body}, status=error.status, headers=headers)
    # Otherwise Django would report each 503 of a probe as an error of the site.
    response._has_been_logged = error.status == HTTPStatus.SERVICE_UNAVAILABLE  # type: ignore[attr-defined]
    return response


def method_not_allowed(method: str, allowed: str) -> HttpResponse:
    response = answer(
        ApiError(405, "method_not_allowed", f"{method} is not allowed here; {allowed} is.")
    )
    response["Allow"] = allowed
    return response


def install_handlers(api: NinjaAPI) -> None:
    """Make an answer of each exception of an operation."""

    def expected(_request: HttpRequest, error: Any) -> HttpResponse:
        return answer(_translated(error))

    kinds: tuple[type[Exception], ...] = (
        ApiError,
        AuthenticationError,
        DedupeKeyError,
        HandlerNotFoundError,
        HttpError,
        MaskedError,
        ModelError,
        NotJSONError,
        OptionError,
        ParamsError,
        RequestDataTooBig,
        ValidationError,
    )
    for kind in kinds:
        api.add_exception_handler(kind, expected)
    for kind in (OperationalError, InterfaceError, ProgrammingError, NotMigratedError):
        api.add_exception_handler(kind, _database_failed)
    api.add_exception_handler(Exception, _unexpected)


def _translated(error: Exception) -> ApiError:
    match error:
        case ApiError():
            return error
        case AuthenticationError():
            return unauthenticated(
                "Log in as staff, or send a token: Authorization: Bearer <secret>"
            )
        case HttpError():
            # The other errors of ninja itself are bodies that it cannot read.
            return ApiError(400, "malformed", "The body is not JSON in UTF-8.")
        case RequestDataTooBig():
            return ApiError(413, "too_large", "The body is too large.")
        case ValidationError():
            return invalid(_fields_of(error))
        case ModelError():
            return _of_model(error)
        case DedupeKeyError():
            return conflict(str(error), {"dedupe_key": [str(error)]})
        case HandlerNotFoundError():
            return invalid({"handler_name": [str(error)]})
        case MaskedError() | NotJSONError() | ParamsError():
            return invalid({"params": [str(error)]})
    return invalid({}, str(error))


def _of_model(error: ModelError) -> ApiError:
    """Return the errors of a model's validation; a name that is taken is a conflict."""
    fields = {
        "" if name == NON_FIELD_ERRORS else name: messages
        for name, messages in error.message_dict.items()
    }
    codes = {each.code for errors in error.error_dict.values() for each in errors}
    if "unique" in codes:
        return conflict("There is one like this already; see fields.", fields)
    return invalid(fields)


def _fields_of(error: ValidationError) -> Fields:
    fields: Fields = {}
    for each in error.errors:
        source, *path = each["loc"]
        # Fields of a body are under the name of the operation's argument.
        name = ".".join(map(str, path[1:] if source == "body" else path)) or source
        text = each["ctx"]["error"] if each["type"] == "value_error" else each["msg"]
        fields.setdefault(name, []).append(str(text))
    return fields


def _database_failed(request: HttpRequest, error: Any) -> HttpResponse:
    """Tell the caller if it is temporary, or if `migrate` was not run."""
    missing = not_migrated(error)
    if missing is None and not isinstance(error, OperationalError | InterfaceError):
        return _unexpected(request, error)
    logs.api_database_failed(missing or error)
    if missing is not None:
        return answer(ApiError(503, "unavailable", str(missing)))
    return answer(ApiError(503, "unavailable", "The database does not answer; try again later."))


def _unexpected(request: HttpRequest, error: Any) -> HttpResponse:
    """Tell the caller nothing; report everything to the site's admins, as Django does."""
    response = answer(ApiError(500, "internal", "Something went wrong; it was logged."))
    got_request_exception.send(sender=None, request=request)
    log_response(
        "%s: %s",
        response.reason_phrase,
        request.path,
        response=response,
        request=request,
        exception=error,
    )
    return response
