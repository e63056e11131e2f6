"""How long a failed execution waits before its next attempt."""

from __future__ import annotations

import random


def delay(failures: int, *, base: float, maximum: float, jitter: bool = True) -> float:
    """Draw from zero to an exponentially growing, capped bound (full jitter), or return the bound.

    Full jitter, because executions that failed together must not come back together.
    """
    most = bound(failures, base=base, maximum=maximum)
    return random.uniform(0, most) if jitter else most  # noqa: S311


def bound(failures: int, *, base: float, maximum: float) -> float:
    # 2**1000 overflows a float; no cap in use is further than 63 doublings away.
    return min(maximum, base * 2.0 ** min(failures - 1, 63))
