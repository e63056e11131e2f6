"""Real servers that receive alerts: one for HTTP, one for SMTP."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Webhook:
    """Keeps the JSON that was posted, and answers with the next of `answers`, or 200."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.posted: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[int] = []
        self.location = ""

    def titles(self) -> list[str]:
        return [str(body["text"]).splitlines()[0] for body in self.posted]


@contextmanager
def webhook(path: str = "/services/T0/SECRET") -> Iterator[Webhook]:
    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = kept.answers.pop(0) if kept.answers else 200
            if status < 300:
                kept.posted.append(json.loads(body))
                kept.headers.append(dict(self.headers))
            self.send_response(status)
            if kept.location:
                self.send_header("Location", kept.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_args: Any) -> None:
            """Keep the tests' output clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        kept = Webhook(f"http://127.0.0.1:{server.server_port}{path}")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield kept
        server.shutdown()
        thread.join()


class Mailbox:
    """Keeps the mails that came by SMTP."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.mails: list[str] = []


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    class Receiving(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 here")
            while line := self.rfile.readline():
                verb = line.strip().upper()
                if verb == b"DATA":
                    self.say("354 go on")
                    lines = iter(self.rfile.readline, b".\r\n")
                    kept.mails.append(b"".join(lines).decode())
                    self.say("250 kept")
                elif verb == b"QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 fine")

        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Receiving) as server:
        server.daemon_threads = True
        kept = Mailbox(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield kept
        server.shutdown()
        thread.join()
