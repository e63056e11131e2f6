"""Transactions over one or several databases, on real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import Permission
from django.db import DatabaseError, connections, transaction

from jobu import get_connection, transactional, transactional_readonly
from jobu.dialects import dialect_for
from jobu.exceptions import JobuError, TransactionError
from jobu.transactions import write_transaction
from tests.project.shop.models import Effect

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])

BOTH = ("default", "other")


def write(note: str, *aliases: str) -> None:
    for alias in aliases:
        Effect.objects.using(alias).create(execution_id=1, note=note)


def notes(alias: str) -> list[str]:
    return sorted(Effect.objects.using(alias).values_list("note", flat=True))


def write_and_fail(note: str, *aliases: str, dead: tuple[str, ...] = ()) -> None:
    write(note, *aliases)
    for alias in dead:
        connections[alias].connection.close()
    raise ZeroDivisionError


def write_and_doom(note: str, alias: str) -> None:
    """Write on both databases and let the commit on `alias` fail."""
    write(note, *BOTH)
    connection = connections[alias]
    if connection.features.can_defer_constraint_checks:
        Permission.objects.using(alias).create(content_type_id=1_000_000, codename="x", name="x")
    else:
        spare = connection.copy()
        dialect_for(alias).abort(spare, dialect_for(alias).session_id(connection))
        spare.close()


@pytest.fixture(autouse=True)
def fresh_connections(_django_db_helper: None) -> Iterator[None]:
    """Do not let a connection that one test has spoiled reach the next one."""
    yield
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def test_a_block_commits_on_every_database() -> None:
    with transactional(*BOTH):
        assert all(connections[alias].in_atomic_block for alias in BOTH)
        write("kept", *BOTH)
    assert not any(connections[alias].in_atomic_block for alias in BOTH)
    assert notes("default") == notes("other") == ["kept"]


@pytest.mark.parametrize("dead", [(), ("default",), ("other",), BOTH])
def test_an_error_rolls_back_every_database_whichever_is_dead(dead: tuple[str, ...]) -> None:
    # MySQL's driver raises once more when a dead connection is closed.
    with pytest.raises((ZeroDivisionError, DatabaseError)) as caught, transactional(*BOTH):
        write_and_fail("gone", *BOTH, dead=dead)
    assert ZeroDivisionError in {type(caught.value), type(caught.value.__cause__)}
    assert notes("default") == notes("other") == []
    assert not any(connections[alias].in_atomic_block for alias in BOTH)


def test_without_a_name_it_is_the_default_database() -> None:
    with transactional():
        assert connections["default"].in_atomic_block
        assert not connections["other"].in_atomic_block
    with transactional_readonly():
        assert connections["default"].in_atomic_block
        assert not connections["other"].in_atomic_block


def test_a_name_given_twice_counts_once() -> None:
    with transactional("other", "other"):
        assert len(connections["other"].atomic_blocks) == 1


def test_a_decorated_function_runs_in_a_transaction_each_time() -> None:
    @transactional(*BOTH)
    def store(note: str, *, fail: bool = False) -> str:
        write(note, *BOTH)
        if fail:
            raise ValueError(note)
        return note.upper()

    assert store("first") == "FIRST"
    with pytest.raises(ValueError, match="second"):
        store("second", fail=True)
    assert store("third") == "THIRD"
    assert notes("default") == notes("other") == ["first", "third"]


def test_a_decorated_function_may_call_itself() -> None:
    @transactional(*BOTH)
    def count_down(number: int) -> None:
        write(str(number), *BOTH)
        if number > 1:
            count_down(number - 1)
        elif number < 1:
            raise ValueError

    count_down(3)
    with pytest.raises(ValueError):  # noqa: PT011
        count_down(0)
    assert notes("default") == notes("other") == ["1", "2", "3"]


def test_an_inner_block_is_a_savepoint_of_the_outer_one() -> None:
    with transactional(*BOTH):
        write("outer", *BOTH)
        with pytest.raises(ZeroDivisionError), transactional(*BOTH):
            write_and_fail("inner", *BOTH)
        write("after", *BOTH)
    assert notes("default") == notes("other") == ["after", "outer"]


def test_a_database_that_must_roll_back_takes_the_others_with_it() -> None:
    with transactional(*BOTH):
        write("gone", *BOTH)
        transaction.set_rollback(True, using="other")
    assert notes("default") == notes("other") == []


def test_a_commit_that_fails_after_another_names_both() -> None:
    with pytest.raises(TransactionError) as caught, transactional(*BOTH):
        write_and_doom("half", "other")
    cause = caught.value.__cause__
    assert isinstance(cause, DatabaseError)
    assert str(caught.value) == f"Committed on default, but not on other: {cause}"
    assert isinstance(caught.value, JobuError)
    assert notes("default") == ["half"]
    assert notes("other") == []
    assert not any(connections[alias].in_atomic_block for alias in BOTH)


def test_a_commit_that_fails_first_raises_its_own_error_and_nothing_is_committed() -> None:
    with pytest.raises(DatabaseError), transactional(*BOTH):
        write_and_doom("lost", "default")
    assert notes("default") == notes("other") == []
    assert not any(connections[alias].in_atomic_block for alias in BOTH)


@pytest.mark.parametrize("refusing", BOTH)
def test_readonly_refuses_writes_on_every_database(refusing: str) -> None:
    write("before", *BOTH)
    with transactional_readonly(*BOTH):
        assert notes("default") == notes("other") == ["before"]
    with pytest.raises(DatabaseError), transactional_readonly(*BOTH):
        write("refused", refusing)
    assert notes("default") == notes("other") == ["before"]


def test_after_readonly_writes_are_possible_again() -> None:
    with transactional_readonly(*BOTH):
        assert notes("default") == notes("other") == []
    write("after", *BOTH)
    with pytest.raises(ZeroDivisionError), transactional_readonly(*BOTH):
        _ = 1 / 0
    with transactional(*BOTH):
        write("later", *BOTH)
    assert notes("default") == notes("other") == ["after", "later"]


def test_after_a_readonly_block_that_read_nothing_writes_are_possible_again() -> None:
    with transactional_readonly(*BOTH):
        pass
    with transactional(*BOTH):
        write("kept", *BOTH)
    assert notes("default") == notes("other") == ["kept"]


def test_a_readonly_function_refuses_writes() -> None:
    @transactional_readonly(*BOTH)
    def read(note: str | None = None) -> list[str]:
        if note is not None:
            write(note, "other")
        return notes("other")

    assert read() == []
    with pytest.raises(DatabaseError):
        read("refused")
    write("kept", "other")
    assert read() == ["kept"]


@pytest.mark.parametrize("outer", [transactional, transactional_readonly, transaction.atomic])
def test_readonly_inside_another_transaction_is_refused(outer: Any) -> None:
    with outer("other"):
        with pytest.raises(TransactionError) as caught, transactional_readonly(*BOTH):
            pytest.fail("It must not get here.")
        assert connections["other"].in_atomic_block
    assert str(caught.value) == (
        "A transaction is already open on other; transactional_readonly must be the outermost "
        "one, because a database cannot make half of one read-only."
    )


def test_a_readonly_block_that_could_not_begin_leaves_every_database_writable() -> None:
    with transaction.atomic(using="other"):
        with pytest.raises(TransactionError), transactional_readonly(*BOTH):
            pytest.fail("It must not get here.")
        assert not connections["default"].in_atomic_block
        write("kept", *BOTH)
    assert notes("default") == notes("other") == ["kept"]


@pytest.mark.parametrize("decorator", [transactional, transactional_readonly])
def test_an_async_generator_cannot_be_wrapped(decorator: Any) -> None:
    async def fetch() -> Any:
        yield

    with pytest.raises(TypeError) as caught:
        decorator(*BOTH)(fetch)
    assert str(caught.value) == (
        f"{decorator.__name__} cannot wrap the async generator {fetch.__qualname__}: "
        f"write 'async with {decorator.__name__}(…)' inside it."
    )


@pytest.mark.parametrize("use", [transactional, transactional_readonly, get_connection])
def test_an_alias_that_is_not_there_is_refused_at_once(use: Any) -> None:
    with pytest.raises(JobuError) as caught:
        use("nowhere")
    assert str(caught.value) == "DATABASES has no 'nowhere'; it has default, other."


def test_a_decorator_without_its_brackets_is_refused() -> None:
    def function() -> None: ...

    with pytest.raises(TypeError) as caught:
        transactional(function)  # type: ignore[arg-type]
    assert str(caught.value) == (
        f"Name databases by their alias, as in transactional('default'), not {function!r}."
    )


def test_get_connection_opens_the_connection_of_the_alias() -> None:
    connections["other"].close()
    connection = get_connection("other")
    assert connection is connections["other"]
    assert connection.connection is not None
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)


def test_a_write_transaction_commits_or_rolls_back() -> None:
    with write_transaction("other"):
        write("kept", "other")
    assert not connections["other"].in_atomic_block
    with pytest.raises(ZeroDivisionError), write_transaction("other"):
        write_and_fail("gone", "other")
    assert notes("other") == ["kept"]


@pytest.mark.django_db(databases=["default", "other"])
class TestInATestCase:
    """Django's TestCase wraps a transaction of its own around each test."""

    def test_readonly_works_but_is_not_enforced(self) -> None:
        write("before", *BOTH)
        with transactional_readonly(*BOTH):
            assert notes("default") == notes("other") == ["before"]
            write("inside", *BOTH)
        assert notes("default") == notes("other") == ["before", "inside"]

    def test_readonly_inside_another_transaction_is_refused_all_the_same(self) -> None:
        with (
            transactional("default"),
            pytest.raises(TransactionError, match="already open on default"),
            transactional_readonly("default"),
        ):
            pytest.fail("It must not get here.")

    def test_an_error_rolls_back_to_where_the_block_began(self) -> None:
        write("before", *BOTH)
        with pytest.raises(ZeroDivisionError), transactional(*BOTH):
            write_and_fail("gone", *BOTH)
        assert notes("default") == notes("other") == ["before"]
