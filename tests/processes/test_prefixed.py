"""The output of several processes as one stream."""

from __future__ import annotations

import io
import os

import pytest

from jobu.processes.prefixed import PrefixedOutput

pytestmark = pytest.mark.pure


def test_each_line_names_its_process_and_none_is_lost() -> None:
    stream = io.BytesIO()
    output = PrefixedOutput(stream, ["web", "worker"])
    sources = []
    for name in ("web", "worker"):
        read, write = os.pipe()
        output.follow(name, os.fdopen(read, "rb"))
        sources.append((name, os.fdopen(write, "wb")))
    for number in range(200):
        for _name, source in sources:
            source.write(f"{number} 안녕\n".encode())
    for _name, source in sources:
        source.write(b"\xff without an end")
        source.close()
    output.close()
    lines = stream.getvalue().splitlines()
    assert lines.count(b"web    | \xff without an end") == 1
    assert lines.count(b"worker | \xff without an end") == 1
    for name in ("web", "worker"):
        own = [line for line in lines if line.startswith(f"{name:6} | ".encode())]
        assert own[:-1] == [f"{name:6} | {number} 안녕".encode() for number in range(200)]


def test_a_grandchild_that_keeps_its_end_open_is_not_waited_for() -> None:
    stream = io.BytesIO()
    output = PrefixedOutput(stream, ["web"])
    read, write = os.pipe()
    output.follow("web", os.fdopen(read, "rb"))
    with os.fdopen(write, "wb", buffering=0) as source:
        source.write(b"started\n")
        output.close()
        assert stream.getvalue() == b"web | started\n"
