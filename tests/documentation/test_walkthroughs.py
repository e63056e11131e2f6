"""README and tutorial, followed by a machine that has nothing but them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documentation.blocks import blocks_of
from tests.documentation.walkthrough import Walkthrough, fresh_checkout
from tests.packaging.distributions import ROOT, can_download
from tests.sample.browser import Browser
from tests.servers import missing
from tests.waiting import wait_until

pytestmark = [pytest.mark.pure, pytest.mark.processes, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for both documents: the second one need not download what the first one has."""
    folder = tmp_path_factory.mktemp("index")
    if not can_download(folder):
        missing("a package index")
    # Some folders are called like this, and everything has to work in them.
    return fresh_checkout(tmp_path_factory.mktemp("checkout") / "내 폴더" / "jobu")


@pytest.fixture
def walkthrough(checkout: Path, tmp_path: Path) -> Iterator[Walkthrough]:
    walkthrough = Walkthrough(checkout, tmp_path)
    try:
        yield walkthrough
    finally:
        walkthrough.stop()


def test_the_readme_leads_to_a_demo_and_to_a_first_job(walkthrough: Walkthrough) -> None:
    demo, first_job = (ROOT / "README.md").read_text().split("## Your first job")
    walkthrough.follow(demo)
    walkthrough.wait_for_log("user admin, password admin")
    walkthrough.wait_for_log("(order_placed, attempt 1): SUCCESS")
    # What is not configured says so, and is not retried.
    walkthrough.wait_for_log("(postgres_crud, attempt 1): FAILED")
    walkthrough.wait_for_log("Set POSTGRES_1_URL")
    browser = Browser(walkthrough.port)
    browser.log_in("admin", "admin")
    assert "order_placed" in browser.get("/admin/jobu/jobexecution/")
    walkthrough.stop()

    walkthrough.follow(first_job)
    wait_until(
        lambda: ("send_receipt", "SUCCESS") in walkthrough.executions(),
        "the receipt",
        lambda: walkthrough.log,
    )
    assert ("count_orders",) in walkthrough.cron_jobs()
    browser = Browser(walkthrough.port)
    browser.log_in("admin", "admin")
    assert "send_receipt" in browser.get("/admin/jobu/jobexecution/")


def test_the_tutorial_can_be_followed_word_by_word(walkthrough: Walkthrough) -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text()
    until_the_admin, rest = text.split("## As part of a transaction")
    rest, nine = rest.split("## Nine handlers to read")
    walkthrough.follow(until_the_admin)
    browser = Browser(walkthrough.port)
    browser.log_in("admin", "admin")
    page = browser.submit(
        "/admin/jobu/cronjob/add/",
        name="any name",
        cron_expression="* * * * *",
        handler_name="greet",
        handler_params='{"name": "admin"}',
    )
    assert "any name" in page
    walkthrough.follow(rest)
    wait_until(
        lambda: ("record_sale", "SUCCESS") in walkthrough.executions(),
        "the sale",
        lambda: walkthrough.log,
    )
    # Nothing but what the text lets fail.
    failed = [name for name, status in walkthrough.executions() if status == "FAILED"]
    assert failed == ["order_books"], walkthrough.log

    walkthrough.follow(nine)
    by_status = Counter(status for _, status in walkthrough.executions())
    assert by_status == {"SUCCESS": 5, "FAILED": 4}


@pytest.mark.parametrize(
    ("english", "korean"),
    [("README.md", "README.ko.md"), ("docs/tutorial.md", "docs/ko/tutorial.md")],
)
def test_the_korean_text_has_the_same_blocks(english: str, korean: str) -> None:
    assert list(blocks_of((ROOT / korean).read_text())) == list(
        blocks_of((ROOT / english).read_text())
    )
