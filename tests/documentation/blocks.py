"""The fenced blocks of a Markdown file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The path that the first line of a Python block names, if it does."""
        match = re.match(r"# (\S+\.py)\n", self.text)
        return match[1] if self.language == "python" and match else None


def blocks_of(markdown: str) -> Iterator[Block]:
    for match in _BLOCK.finditer(markdown):
        yield Block(match[1], match[2])
