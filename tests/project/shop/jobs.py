"""Handlers for the tests."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import signal
import threading
import time
from typing import Any

from asgiref.sync import SyncToAsync, ThreadSensitiveContext, sync_to_async
from django.db import connection, transaction

from jobu import BaseHandler, current_job, handler
from jobu.dialects import dialect_for
from tests.project.shop import misbehaviour
from tests.project.shop.models import Effect


@handler("effect")
def effect(note: str = "") -> dict[str, Any]:
    Effect.objects.create(execution_id=current_job().id, note=note)
    return {"note": note}


@handler("atomic_effect", atomic=True, max_retry=100)
def atomic_effect(seconds: float = 0) -> None:
    Effect.objects.create(execution_id=current_job().id, note="atomic")
    time.sleep(seconds)


@handler("token", max_retry=100)
def token(token: str, seconds: float = 0) -> dict[str, str]:
    time.sleep(seconds)
    return {"token": token}


@handler("atomic_token", atomic=True, max_retry=100)
def atomic_token(token: str, seconds: float = 0, shared: int | None = None) -> dict[str, str]:
    Effect.objects.create(execution_id=current_job().id, note=token)
    if shared is not None:
        # A row that others write at the same time.
        Effect.objects.filter(pk=shared).update(note=token)
    time.sleep(seconds)
    return {"token": token}


@handler("echo", events=True)
class Echo(BaseHandler):
    def execute(self, params: dict[str, Any]) -> dict[str, Any]:
        return params


@handler("async_echo")
async def async_echo(params: dict[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(0)
    return params


TURNS: list[str] = []


@handler("async_wants_a_turn")
async def async_wants_a_turn() -> None:
    await asyncio.sleep(0.004)
    TURNS.append("had its turn")


@handler("async_never_awaits")
async def async_never_awaits() -> None:
    time.sleep(0.002)  # noqa: ASYNC251 - that is the point
    TURNS.append("did not await")


ORM_CONTEXTS: list[ThreadSensitiveContext] = []


@handler("async_notes_its_context")
async def async_notes_its_context(seconds: float = 0) -> None:
    ORM_CONTEXTS.append(SyncToAsync.thread_sensitive_context.get())
    await asyncio.sleep(seconds)


@handler("sleep", max_retry=100, events=True)
def sleep(seconds: float) -> None:
    time.sleep(seconds)
    logging.getLogger("shop").info("slept")


GATE = threading.Event()
AT_GATE = threading.Event()


@handler("wait_at_gate")
def wait_at_gate() -> None:
    GATE.wait(60)


@handler("session_id")
def session_id(at_gate: bool = False) -> int:
    if at_gate:
        AT_GATE.set()
        GATE.wait(60)
    return int(dialect_for("default").session_id(connection))


@handler("async_session_id")
async def async_session_id() -> int:
    return await sync_to_async(session_id)()


@handler("async_wait_at_gate")
async def async_wait_at_gate() -> None:
    AT_GATE.set()
    await sync_to_async(GATE.wait)(60)


@handler("async_sleep", max_retry=1)
async def async_sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


@handler("spin", max_retry=1)
def spin() -> None:
    while True:
        pass


@handler("spin_retried")
def spin_retried() -> None:
    while True:
        pass


@handler("async_orm")
async def async_orm() -> int:
    await Effect.objects.acreate(execution_id=current_job().id, note="async")
    return await Effect.objects.acount()


HAS_WRITTEN = threading.Event()


@handler("stubborn_atomic", atomic=True, max_retry=1)
def stubborn_atomic(seconds: float) -> None:
    Effect.objects.create(execution_id=current_job().id, note="stubborn")
    HAS_WRITTEN.set()
    time.sleep(seconds)


@handler("fail", max_retry=3)
def fail(message: str = "no luck") -> None:
    raise ValueError(message)


@handler("fail_for_good", no_retry_on=(ValueError,))
def fail_for_good() -> None:
    raise ValueError("never again")


@handler("fail_with_os_error_only", retry_on=(OSError,), max_retry=2)
def fail_with_os_error_only(is_os_error: bool) -> None:
    raise OSError("disk") if is_os_error else KeyError("other")


@handler("not_json")
def not_json() -> object:
    return {"set": {1, 2}}


@handler("exit")
def exit_() -> None:
    raise SystemExit(3)


@handler("async_blocks", max_retry=1)
async def async_blocks(seconds: float | None = None) -> None:
    """Block the event loop, for a while or until interrupted."""
    if seconds is not None:
        time.sleep(seconds)  # noqa: ASYNC251 - the mistake under test
    while seconds is None:
        pass


@handler("swallow", max_retry=1)
def swallow() -> str:
    """Swallow the interrupt, as careless code does."""
    try:
        while True:
            pass
    except BaseException:
        return "swallowed"


@handler("progress", max_retry=1)
def progress(seconds: float) -> None:
    job = current_job()
    job.progress(1, 4, "one of four")
    time.sleep(seconds)
    job.progress(4, 4)


@handler("leave_transaction_open")
def leave_transaction_open() -> None:
    transaction.atomic().__enter__()
    Effect.objects.create(execution_id=current_job().id, note="left open")


@handler("enqueue_next")
def enqueue_next(left: int) -> None:
    if left:
        enqueue_next.enqueue({"left": left - 1})


@handler("log", max_retry=1)
def log(
    text: str = "hello", level: int = logging.INFO, times: int = 1, fails: bool = False
) -> None:
    for number in range(times):
        logging.getLogger("shop").log(level, "%s %d", text, number)
    if fails:
        raise ValueError("no luck")


@handler("async_log")
async def async_log(text: str) -> None:
    logging.getLogger("shop").info("%s begins", text)
    await asyncio.sleep(0)
    await asyncio.to_thread(logging.getLogger("shop.thread").info, "%s in a thread", text)


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


@handler("log_badly", max_retry=1)
def log_badly() -> None:
    logger = logging.getLogger("shop")
    logger.info("what: %s", Unprintable())
    logger.info(Unprintable())
    logger.info("%d", "not a number")
    logger.info("NUL \0 and \ud800")
    try:
        _ = 1 / 0
    except ZeroDivisionError:
        logger.exception("divided")


@handler("steps", max_retry=1)
def steps(count: int = 10, seconds: float = 0.1) -> int:
    """Count up, and say how far it is."""
    job = current_job()
    for step in range(count):
        job.progress(step, count, f"step {step}")
        time.sleep(seconds)
    return count


@handler("misbehave", max_retry=1)
def misbehave(way: str) -> Any:
    return misbehaviour.act(way)


@handler("atomic_misbehave", max_retry=1, atomic=True)
def atomic_misbehave(way: str) -> Any:
    return misbehaviour.act(way)


@handler("async_misbehave", max_retry=1)
async def async_misbehave(way: str) -> Any:
    done = misbehaviour.act(way)
    return await done if inspect.isawaitable(done) else done


@handler("look_around", max_retry=1)
def look_around() -> dict[str, Any]:
    return misbehaviour.look_around()


@handler("async_look_around", max_retry=1)
async def async_look_around() -> dict[str, Any]:
    seen = misbehaviour.look_at_context()
    return {**await sync_to_async(misbehaviour.look_around)(), **seen}


@handler("atomic_lock", atomic=True, max_retry=100)
def atomic_lock() -> None:
    """Lock what all of its runs lock; the first one never lets go of it."""
    Effect.objects.select_for_update().get(note="locked by all")
    if current_job().attempt == 1:
        logging.getLogger("shop").warning("has the lock")
        time.sleep(600)


@handler("kill_worker", max_retry=3)
def kill_worker() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
