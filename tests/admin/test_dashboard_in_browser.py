"""The dashboard in a real browser: it draws, goes on by itself, rests when nobody looks."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError

from jobu import Worker, enqueue
from jobu.admin import dashboard
from jobu.models import Status
from jobu.reading import Overview, Range, read_overview
from jobu.testing import run_pending
from tests.browser import Browser
from tests.builders import cron, finished, pending, process

pytestmark = pytest.mark.browser

SCRIPT = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "_REFRESH_SECONDS", dict.fromkeys(Range, 0.1))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ranges that the page asked for, one by one."""
    ranges: list[str] = []

    def read(chosen: Range) -> Overview:
        ranges.append(chosen.value)
        return read_overview(chosen)

    monkeypatch.setattr(dashboard, "read_overview", read)
    return ranges


@pytest.fixture
def board(browser: Browser, admin_user: User) -> Browser:
    browser.sign_in(admin_user)
    return browser


def refreshed(browser: Browser) -> int:
    return int(browser.find("#board").get_attribute("data-refreshed") or 0)


def open_board(browser: Browser, **query: str) -> None:
    browser.open("admin:jobu_dashboard_changelist", **query)
    browser.wait(lambda: refreshed(browser) > 0, "the first numbers")


def series(browser: Browser, chart: str) -> dict[str, list[float | None]]:
    """Return what a chart draws."""
    code = (
        "return Chart.getChart(arguments[0]).data.datasets.map((each) => [each.label, each.data])"
    )
    return dict(browser.script(code, f"board-{chart}"))


def pixels(browser: Browser, chart: str) -> int:
    """Count the pixels that are painted."""
    code = """
        const canvas = document.getElementById(arguments[0]);
        const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        return all.filter((value, index) => index % 4 === 3 && value > 0).length;
    """
    return int(browser.script(code, f"board-{chart}"))


def test_it_draws_what_ran_and_refuses_nothing_to_itself(board: Browser) -> None:
    for _ in range(3):
        finished(handler_name="echo")
    finished(Status.FAILED, handler_name="fail")
    enqueue("echo", queue="mail")
    cron()
    process(slots=5)
    board.open("admin:index")
    board.find("#jobu-dashboard a").click()
    board.wait(lambda: refreshed(board) > 0, "the first numbers")
    assert board.text("#board-finished") == "4"
    assert board.text("#board-dead") == "25%"
    assert board.text("#board-waiting") == "1"
    assert board.text("#board-alive") == "1"
    assert "mail" in board.text("#board-queues")
    assert "fail\n1\n1\n100%" in board.text("#board-handlers").replace(" ", "\n")
    assert "worker here:1" in board.text("#board-processes")
    assert [sum(filter(None, each)) for each in series(board, "outcomes").values()] == [3, 0, 0, 1]
    assert series(board, "depth") == {"mail": [*[None] * 59, 1]}
    for chart in ("outcomes", "run", "wait", "depth"):
        assert pixels(board, chart) > 1000
    assert board.console() == []


def test_it_goes_on_by_itself_without_a_reload(board: Browser) -> None:
    open_board(board)
    board.script("window.stayed = true")
    assert board.text("#board-finished") == "0"
    enqueue("echo")
    run_pending()
    board.wait(lambda: board.text("#board-finished") == "1", "the new execution")
    assert board.script("return window.stayed")
    assert board.console() == []


def test_a_live_worker_is_seen(board: Browser) -> None:
    open_board(board)
    assert "No process is running" in board.text("#board-processes")
    with Worker(pool_size=3, poll_interval=0.1, shutdown_timeout=1):
        enqueue("sleep", {"seconds": 60})
        board.wait(lambda: "1 / 3" in board.text("#board-processes"), "the slot in use")
    board.wait(lambda: "No process is running" in board.text("#board-processes"), "its end")


def test_it_rests_while_its_tab_is_hidden(board: Browser, asked: list[str]) -> None:
    open_board(board)
    board.script(
        "window.said = [];"
        "const state = document.getElementById('board-state');"
        "document.addEventListener('visibilitychange', () => said.push(state.textContent))"
    )
    with board.in_new_tab():
        board.open("admin:index")
        before = len(asked)
        for _ in range(4):
            board.open("admin:index")
        assert len(asked) == before
    board.wait(lambda: len(asked) > before, "the next question")
    assert board.script("return window.said[0]") == "paused while this tab is hidden"


def test_another_range_is_shown_without_a_reload(board: Browser) -> None:
    finished(days_ago=3)
    open_board(board)
    board.script("window.stayed = true")
    assert board.text("#board-finished") == "0"
    board.find("[data-range=week]").click()
    board.wait(lambda: board.text("#board-finished") == "1", "the week's execution")
    assert board.driver.current_url.endswith("?range=week")
    assert len(series(board, "outcomes")["success"]) == 7 * 12
    assert board.script("return window.stayed")


def test_whatever_names_carry_is_inert(board: Browser) -> None:
    finished(Status.FAILED, handler_name=SCRIPT)
    pending(queue=SCRIPT[:100])
    cron(
        name=SCRIPT,
        handler_name=SCRIPT,
        planned=f"{SCRIPT}\n0 2 * * *\nUTC",
        next_run_at="2999-01-01T00:00Z",
    )
    process(host=SCRIPT, queues=[SCRIPT], slots=1)
    open_board(board)
    for table in ("handlers", "ticks", "processes"):
        assert SCRIPT in board.text(f"#board-{table}")
    assert board.text("#board-queues").startswith(SCRIPT[:100])
    assert "owned" not in board.driver.title
    assert not board.find_all("#board script:not([type='application/json']), #board img")
    assert board.console() == []


def test_it_speaks_korean(board: Browser) -> None:
    finished()
    board.speak("ko")
    open_board(board)
    assert board.text("#board h1") == "대시보드"
    assert board.text("#board [aria-current]") == "지난 1시간"
    assert "성공" in series(board, "outcomes")
    assert "시작" in board.text("#board-processes")
    assert board.console() == []


def test_it_follows_the_theme_and_fits_a_phone(board: Browser) -> None:
    finished()
    process(slots=5)
    open_board(board)
    ink = "return Chart.getChart('board-outcomes').options.plugins.legend.labels.color"
    light = board.script(ink)
    board.prefer("dark")
    board.wait(lambda: board.script(ink) != light, "other colours")
    board.resize(390, 800)
    width = "return document.documentElement.scrollWidth"
    board.wait(lambda: board.script(width) <= 390, "a page that is no wider than the phone")
    assert board.console() == []


def test_a_failing_server_is_said_and_tried_again(
    board: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_board(board)

    def fail(*_args: Any) -> None:
        raise OSError("no luck")

    with monkeypatch.context() as broken:
        broken.setattr(dashboard, "read_overview", fail)
        board.wait(lambda: board.find("#board-problem").is_displayed(), "the message")
        assert "HTTP 500" in board.text("#board-problem")
    board.wait(lambda: not board.find("#board-problem").is_displayed(), "the next answer")


def test_the_dashboard_says_what_to_run_if_the_tables_are_missing(
    board: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_chosen: Range) -> Overview:
        raise OperationalError("no such table: jobu_jobexecution")

    monkeypatch.setattr(dashboard, "read_overview", fail)
    board.open("admin:jobu_dashboard_changelist")
    words = "The database is not ready: run manage.py migrate."
    board.wait(lambda: words in board.find("body").text, "the words")
