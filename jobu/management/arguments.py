"""Types of command-line arguments."""

from __future__ import annotations

import argparse
import re
from datetime import datetime, timedelta

from django.utils.timezone import is_naive, make_aware

from jobu.exceptions import OptionError
from jobu.handlers.options import checked_time

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_DELAY = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([smhd]?)")


def whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds greater than 0")
    return value


def delay(text: str) -> timedelta:
    """Read 90, 90s, 5m, 2h, 1d or several of them, such as 1h30m."""
    parts = _DELAY.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise argparse.ArgumentTypeError(f"{text!r} is no delay such as 90, 90s, 5m, 2h or 1d")
    return timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in parts))


def moment(text: str) -> datetime:
    try:
        read = datetime.fromisoformat(text)
        return checked_time(make_aware(read) if is_naive(read) else read)
    except (ValueError, OverflowError) as error:
        reason = f": {error}" if isinstance(error, OptionError) else ""
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time such as 2030-01-31T09:00+09:00{reason}"
        ) from None
