"""The handlers that do nothing, so that what is measured is jobu."""

import time

from benchmarks.tally import note
from benchmarks.tally import stamp as leave_stamp
from jobu import handler


@handler("noop", events=True)
def noop() -> None:
    note()


@handler("async_noop")
async def async_noop() -> None:
    note()


NAP_SECONDS = 0.05


@handler("nap")
def nap() -> None:
    time.sleep(NAP_SECONDS)
    note()


@handler("stamp")
def stamp() -> None:
    leave_stamp()
