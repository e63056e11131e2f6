"""The DATABASES of Django: the store that was made for the subject of this process."""

from __future__ import annotations

import os
from typing import Any

from benchmarks import stores


def databases(**options: Any) -> dict[str, Any]:
    for kind in ("postgres", "mysql", "sqlite"):
        if f"JOBU_BENCH_{kind.upper()}" in os.environ:
            return {"default": {**stores.current(kind).django(), **options}}
    return {}
