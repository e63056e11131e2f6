"""The kinds of callers, and what they get to see."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client

from jobu.models import ApiToken

ROOT = "/api/jobu/"
KINDS = (
    "anonymous",
    "staff without permissions",
    "staff with permissions",
    "superuser",
    "read token",
    "write token",
)


class Answer:
    """One answer: its status, its body, and its error if it is one."""

    def __init__(self, response: Any) -> None:
        self.response = response
        self.status = response.status_code
        self.body: Any = response.json() if response.content else None

    @property
    def code(self) -> str:
        """The error's code; an error is never anything but the envelope."""
        assert set(self.body) == {"error"}, self.body
        assert set(self.body["error"]) == {"code", "message", "fields"}, self.body
        return str(self.body["error"]["code"])

    @property
    def message(self) -> str:
        return str(self.body["error"]["message"])

    @property
    def fields(self) -> dict[str, list[str]]:
        fields: dict[str, list[str]] = self.body["error"]["fields"]
        return fields


class Api:
    """One caller of the API."""

    def __init__(self, client: Client, **headers: str) -> None:
        self.client = client
        self.headers = headers

    def get(self, path: str, **query: Any) -> Answer:
        return Answer(self.client.get(ROOT + path, query, headers=self.headers))

    def post(self, path: str, body: Any = None) -> Answer:
        return self.send("POST", path, "" if body is None else json.dumps(body))

    def patch(self, path: str, body: Any) -> Answer:
        return self.send("PATCH", path, json.dumps(body))

    def delete(self, path: str) -> Answer:
        return self.send("DELETE", path)

    def send(self, method: str, path: str, body: str | bytes = "") -> Answer:
        return Answer(
            self.client.generic(
                method, ROOT + path, body, content_type="application/json", headers=self.headers
            )
        )


def token(scope: str = "write", **fields: Any) -> str:
    """Make a token and return its secret."""
    made = ApiToken(name=f"{scope} {ApiToken.objects.count()}", scope=scope, **fields)
    secret = made.renew_secret()
    made.save()
    return secret


def bearer(scope: str = "write") -> dict[str, str]:
    return {"Authorization": f"Bearer {token(scope)}"}


def user(name: str, *permissions: str, **fields: Any) -> User:
    made = User.objects.create_user(name, **{"is_staff": True, **fields})
    found = Permission.objects.filter(content_type__app_label="jobu", codename__in=permissions)
    assert len(found) == len(permissions)
    made.user_permissions.set(found)
    return made


def session(caller: User, **options: Any) -> Client:
    client = Client(**options)
    client.force_login(caller)
    return client


def caller(kind: str) -> Api:
    """Return a caller of this kind, made in the database."""
    match kind:
        case "anonymous":
            return Api(Client())
        case "staff without permissions":
            return Api(session(user("nobody")))
        case "staff with permissions":
            everything = Permission.objects.filter(content_type__app_label="jobu")
            names = everything.values_list("codename", flat=True)
            return Api(session(user("somebody", *names)))
        case "superuser":
            return Api(session(user("root", is_superuser=True)))
    return Api(Client(), **bearer(kind.removesuffix(" token")))


def works(secret: str) -> bool:
    answer = Api(Client(), Authorization=f"Bearer {secret}").get("jobs")
    return bool(answer.status == 200)
