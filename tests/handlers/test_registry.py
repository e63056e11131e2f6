"""Handlers and the decorator that registers them."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from asgiref.sync import async_to_sync, iscoroutinefunction

from jobu import BaseHandler, handler
from jobu.exceptions import (
    DuplicateHandlerError,
    HandlerError,
    HandlerNotFoundError,
    JobuError,
    OptionError,
)
from jobu.handlers.decorator import HandlerFunction
from jobu.handlers.options import HandlerOptions
from jobu.handlers.registry import handlers

pytestmark = pytest.mark.usefixtures("temporary_handlers")


def test_a_decorated_class_is_found_by_its_name() -> None:
    @handler("greet", max_retry=5, timeout_seconds=30, queue="mail", priority=-7)
    class Greet(BaseHandler):
        def execute(self, params: dict[str, Any]) -> str:
            return f"Hello {params['to']}"

    spec = handlers["greet"]
    assert Greet.handler_name == "greet"
    assert (spec.name, spec.module, spec.qualname) == ("greet", __name__, Greet.__qualname__)
    assert not spec.is_async
    options = spec.options
    assert (options.max_retry, options.timeout_seconds) == (5, 30)
    assert (options.queue, options.priority) == ("mail", -7)
    assert spec.bind({"to": "Ann"})() == "Hello Ann"


def test_a_decorated_function_stays_callable() -> None:
    @handler("add")
    def add(left: int, right: int = 2) -> int:
        """Add two numbers."""
        return left + right

    assert isinstance(add, HandlerFunction)
    assert add(1) == 3
    assert add(1, right=5) == 6
    assert (add.handler_name, add.__name__, add.__doc__) == ("add", "add", "Add two numbers.")
    assert str(inspect.signature(add)) == "(left: 'int', right: 'int' = 2) -> 'int'"
    assert handlers["add"].bind({"left": 40})() == 42


def test_an_async_function_is_known_as_one_and_can_still_be_awaited() -> None:
    @handler("async_add")
    async def add(left: int, right: int) -> int:
        return left + right

    async def await_it() -> int:
        return await add(1, 2)

    assert handlers["async_add"].is_async
    assert async_to_sync(await_it)() == 3
    assert async_to_sync(handlers["async_add"].bind({"left": 3, "right": 4}))() == 7


def test_an_async_function_still_looks_like_one_to_others() -> None:
    @handler("async_marked")
    async def marked() -> None: ...

    @handler("sync_unmarked")
    def unmarked() -> None: ...

    assert iscoroutinefunction(marked)
    assert not iscoroutinefunction(unmarked)


def test_an_async_execute_makes_an_async_handler() -> None:
    @handler("async_class")
    class Async(BaseHandler):
        async def execute(self, params: dict[str, Any]) -> list[str]:
            return sorted(params)

    assert handlers["async_class"].is_async
    assert async_to_sync(handlers["async_class"].bind({"b": 1, "a": 2}))() == ["a", "b"]


@pytest.mark.parametrize("name", ["", "x" * 201, 5, None, BaseHandler])
def test_a_name_that_cannot_be_one_is_refused(name: Any) -> None:
    with pytest.raises(HandlerError) as caught:
        handler(name)
    assert str(caught.value) == (
        f'@handler needs a name of 1 to 200 characters, as in @handler("email"), not {name!r}'
    )


@pytest.mark.parametrize("name", ["x", "x" * 200, "Rechnung – monatlich"])
def test_a_name_of_1_to_200_characters_is_accepted(name: str) -> None:
    handler(name)(lambda: None)
    assert name in handlers


def test_a_name_that_postgresql_cannot_store_is_refused() -> None:
    with pytest.raises(HandlerError):
        handler("nul\0in it")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_retry": -1}, "max_retry must be a whole number of 0 or more, not -1"),
        ({"max_retry": True}, "max_retry must be a whole number of 0 or more, not True"),
        ({"max_retry": 2**31}, "max_retry must be a whole number of 0 or more, not 2147483648"),
        ({"timeout_seconds": 0}, "timeout_seconds must be a whole number of 1 or more, not 0"),
        ({"timeout_seconds": 1.5}, "timeout_seconds must be a whole number of 1 or more, not 1.5"),
        (
            {"priority": 32_768},
            "priority must be a whole number from -32767 to 32767, not 32768",
        ),
        ({"priority": "high"}, "priority must be a whole number from -32767 to 32767, not 'high'"),
        ({"queue": ""}, "queue must be a name of 1 to 100 characters, not ''"),
        ({"queue": "a\nb"}, r"queue must be a name of 1 to 100 characters, not 'a\nb'"),
        ({"queue": None}, "queue must be a name of 1 to 100 characters, not None"),
        ({"retry_on": "OSError"}, "retry_on takes exception classes, not 'OSError'"),
        ({"no_retry_on": (OSError, 5)}, "no_retry_on takes exception classes, not 5"),
        ({"no_retry_on": int}, "no_retry_on takes exception classes, not <class 'int'>"),
        ({"backoff": -1}, "backoff must be zero or more seconds, not -1"),
        ({"backoff": float("nan")}, "backoff must be zero or more seconds, not nan"),
        ({"backoff": float("inf")}, "backoff must be zero or more seconds, not inf"),
    ],
)
def test_an_option_that_cannot_work_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        handler("refused", **options)
    assert str(caught.value) == message
    assert "refused" not in handlers


def test_a_queue_name_of_101_characters_is_refused() -> None:
    with pytest.raises(OptionError, match="queue must be a name of 1 to 100 characters"):
        handler("refused", queue="q" * 101)


def test_the_largest_options_are_accepted() -> None:
    handler("large", max_retry=2**31 - 1, timeout_seconds=2**31 - 1, priority=32_767)(_nothing)
    handler("small", max_retry=0, timeout_seconds=1, priority=-32_767, queue="q" * 100)(_nothing)
    large, small = handlers["large"].options, handlers["small"].options
    assert (large.max_retry, large.timeout_seconds, large.priority) == (
        2**31 - 1,
        2**31 - 1,
        32_767,
    )
    assert (small.max_retry, small.timeout_seconds, small.priority) == (0, 1, -32_767)
    assert small.queue == "q" * 100


def test_without_options_the_defaults_apply() -> None:
    handler("plain")(lambda: None)
    assert handlers["plain"].options == HandlerOptions(
        max_retry=3,
        timeout_seconds=3600,
        queue="default",
        priority=0,
        retry_on=None,
        no_retry_on=(),
        backoff=None,
        atomic=False,
    )
    assert handlers["plain"].options == HandlerOptions()


def test_two_handlers_of_one_name_are_refused_with_both_places() -> None:
    @handler("twice")
    def first() -> None: ...

    with pytest.raises(DuplicateHandlerError) as caught:

        @handler("twice")
        class Second(BaseHandler):
            def execute(self, params: Any) -> None: ...

    message = str(caught.value)
    assert message.startswith("Two handlers are named 'twice': ")
    assert f"first ({__file__}:{inspect.getsourcelines(first)[1]})" in message
    assert f"<locals>.Second ({__file__}:" in message
    assert message.endswith("Rename one of them.")
    assert handlers["twice"].qualname.endswith("first")


def test_a_place_without_source_is_named_by_its_module() -> None:
    namespace: dict[str, Any] = {"handler": handler, "__name__": "made_up"}
    exec("@handler('sourceless')\ndef made(): ...", namespace)
    assert handlers["sourceless"].place == "made_up.made"


def test_the_same_definition_twice_is_harmless() -> None:
    def define(answer: int) -> None:
        @handler("again")
        def again() -> int:
            return answer

    define(1)
    define(2)
    assert handlers["again"].bind({})() == 2


def test_two_functions_of_one_name_in_one_module_are_still_two_handlers() -> None:
    @handler("copied")
    def report() -> str:
        return "the original"

    with pytest.raises(DuplicateHandlerError, match="Two handlers are named 'copied'"):

        @handler("copied")
        def report() -> str:
            return "the copy, pasted and forgotten"


def test_an_unknown_name_suggests_the_one_that_was_meant() -> None:
    with pytest.raises(HandlerNotFoundError) as caught:
        handlers["efect"]
    assert str(caught.value) == (
        "No handler is named 'efect' in any installed app's jobs.py. Did you mean 'effect'?"
    )
    assert isinstance(caught.value, LookupError)
    assert isinstance(caught.value, JobuError)


def test_an_unknown_name_like_no_other_asks_for_installed_apps() -> None:
    with pytest.raises(HandlerNotFoundError, match=r"jobs.py. Is its app in INSTALLED_APPS\?"):
        handlers["zzzzzzzzzz"]
    assert "zzzzzzzzzz" not in handlers
    assert handlers.get("zzzzzzzzzz") is None


def test_an_unknown_name_has_the_default_options() -> None:
    assert handlers.options_of("zzzzzzzzzz") == HandlerOptions()
    assert handlers.options_of("atomic_effect").max_retry == 100
    assert handlers.get("atomic_effect") is handlers["atomic_effect"]


def test_handlers_are_iterated_in_the_order_of_their_names() -> None:
    handler("zebra")(lambda: None)
    handler("aardvark")(lambda: None)
    names = [spec.name for spec in handlers]
    assert names == sorted(names)
    assert {"zebra", "aardvark", "effect"} <= set(names)


def test_a_class_that_is_no_handler_is_refused() -> None:
    with pytest.raises(HandlerError, match=r"Stranger must be a subclass of jobu\.BaseHandler"):

        @handler("stranger")
        class Stranger:
            def execute(self, params: Any) -> None: ...

    assert "stranger" not in handlers


def test_what_is_neither_class_nor_function_is_refused() -> None:
    with pytest.raises(HandlerError, match="@handler decorates a class or a function, not 5"):
        handler("five")(5)  # type: ignore[call-overload]


@pytest.mark.parametrize("kind", ["function", "class"])
def test_an_async_handler_cannot_be_atomic(kind: str) -> None:
    async def function() -> None: ...

    class Handler(BaseHandler):
        async def execute(self, params: Any) -> None: ...

    target: Any = function if kind == "function" else Handler
    with pytest.raises(HandlerError) as caught:
        handler("async_atomic", atomic=True)(target)
    assert f"{target.__qualname__}: atomic=True needs a synchronous handler" in str(caught.value)
    assert "Write 'def' instead of 'async def'" in str(caught.value)
    assert "async_atomic" not in handlers


def _nothing() -> None: ...


def test_a_handler_is_found_by_its_aliases_and_counts_once() -> None:
    @handler("send_mail", aliases=("email", "mail"), max_retry=9)
    def send_mail() -> str:
        return "sent"

    spec = handlers["send_mail"]
    for alias in ("email", "mail"):
        assert alias in handlers
        assert handlers[alias] is spec
        assert handlers.name_of(alias) == "send_mail"
        assert handlers.options_of(alias).max_retry == 9
    assert handlers.name_of("unknown") == "unknown"
    assert [each for each in handlers if each.name == "send_mail"] == [spec]


def test_one_alias_may_be_given_without_brackets() -> None:
    handler("send_mail", aliases="email")(lambda: "sent")
    assert handlers["email"].aliases == ("email",)


@pytest.mark.parametrize("other", [{"name": "email"}, {"name": "post", "aliases": ["email"]}])
def test_an_alias_is_no_other_handlers_name_or_alias(other: dict[str, Any]) -> None:
    handler("send_mail", aliases="email")(lambda: None)
    with pytest.raises(DuplicateHandlerError, match=r"Two handlers are named 'email': .* and "):
        handler(**other)(lambda: None)
    handler("letter")(lambda: None)
    with pytest.raises(DuplicateHandlerError, match="Two handlers are named 'letter'"):
        handler("parcel", aliases=["letter"])(lambda: None)
    assert "parcel" not in handlers


@pytest.mark.parametrize("alias", ["", "a\nb", 5, "send_mail"])
def test_an_alias_that_cannot_be_one_is_refused(alias: Any) -> None:
    with pytest.raises(JobuError):
        handler("send_mail", aliases=[alias])(lambda: None)


def test_a_definition_that_is_imported_again_gives_up_its_old_aliases() -> None:
    for aliases in (("email",), ("mail",)):

        @handler("send_mail", aliases=aliases)
        def send_mail() -> None: ...

    assert "mail" in handlers and "email" not in handlers


@pytest.mark.parametrize(
    ("option", "answer"),
    [
        ("max_retries", "Use max_retry= (how often it runs at most)."),
        ("retry", "Use max_retry= (how often it runs at most)."),
        ("timeout", "Use timeout_seconds= (how long one run may take)."),
        ("tz", "Use timezone= (the name of a time zone, for cron)."),
        ("crontab", "Use cron= (a cron expression)."),
        ("que", "Use queue= (a name)."),
        ("countdown", "It is one of enqueue(): delay= (seconds or a timedelta)."),
        ("available_at", "It is one of enqueue(): available_at= (a datetime with a time zone)."),
    ],
)
def test_an_option_of_another_name_is_answered_with_the_right_one(option: str, answer: str) -> None:
    with pytest.raises(OptionError) as caught:
        handler("own", **{option: 5})
    assert str(caught.value) == f"@handler has no option {option!r}. {answer}"
    assert isinstance(caught.value, TypeError)


def test_an_option_that_is_like_none_is_answered_with_all_of_them() -> None:
    with pytest.raises(OptionError, match=r"no option 'zzz'\. It has max_retry, .*, timezone"):
        handler("own", zzz=5)  # type: ignore[arg-type]
