"""Where the peers' commands are: beside the Python that runs this."""

from __future__ import annotations

import sys
from pathlib import Path


def program(name: str, *arguments: str) -> list[str]:
    return [str(Path(sys.executable).parent / name), *arguments]
