"""Fill in the forms of a running web server, as a person would."""

from __future__ import annotations

import socket
import urllib.parse
import urllib.request
from html.parser import HTMLParser
from http.cookiejar import CookieJar

from tests.waiting import wait_until


class _Forms(HTMLParser):
    """Collects the fields of a page's forms with the values that they show."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._select = ""
        self._textarea = ""

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        attributes = dict(pairs)
        name = attributes.get("name") or ""
        value = attributes.get("value") or ""
        kind = attributes.get("type")
        if tag == "input" and name and kind not in ("submit", "checkbox"):
            self.fields[name] = value
        elif tag == "input" and name and kind == "checkbox" and "checked" in attributes:
            self.fields[name] = value or "on"
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and "selected" in attributes:
            self.fields[self._select] = value
        elif tag == "textarea" and name:
            self._textarea = name
            self.fields[name] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in ("select", "textarea"):
            self._select = self._textarea = ""

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.fields[self._textarea] += data.removeprefix("\n")


class Browser:
    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"
        wait_until(lambda: _listens(port), f"a web server at port {port}")
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(CookieJar()), urllib.request.ProxyHandler({})
        )

    def get(self, path: str) -> str:
        return self._read(urllib.request.Request(self._address + path))

    def submit(self, path: str, **values: str) -> str:
        """Load the page, fill in its form and send it; return the page that comes then."""
        forms = _Forms()
        forms.feed(self.get(path))
        data = urllib.parse.urlencode({**forms.fields, **values}).encode()
        return self._read(
            urllib.request.Request(
                self._address + path, data, headers={"Referer": self._address + path}
            )
        )

    def log_in(self, user: str, password: str) -> None:
        page = self.submit("/admin/login/", username=user, password=password, next="/admin/")
        assert "/admin/logout/" in page, page

    def _read(self, request: urllib.request.Request) -> str:
        with self._opener.open(request, timeout=30) as response:
            text: str = response.read().decode()
            return text


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True
