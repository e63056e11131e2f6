"""Paging through a history without counting it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobu.dialects import DatabaseNow
from jobu.models import JobExecution, Status
from jobu.reading import pages as module
from jobu.reading.pages import browse, count, first_id_after, first_id_since
from tests.builders import database_now, finished, pending

pytestmark = pytest.mark.django_db

EVERYTHING = JobExecution.objects.all()
MAILS = JobExecution.objects.filter(handler_name="mail")


def history(handlers: str) -> list[int]:
    """Make one execution for each letter, "m" is a mail; return their ids, newest first."""
    names = {"m": "mail", ".": "echo"}
    return [pending(handler_name=names[letter]).pk for letter in handlers][::-1]


def ids(page: module.Page) -> list[int]:
    return [execution.pk for execution in page.executions]


def test_pages_follow_each_other_to_the_end_and_back() -> None:
    newest_first = history("." * 7)
    first = browse(EVERYTHING, 3)
    assert (ids(first), first.newer, first.is_cut) == (newest_first[:3], None, False)
    second = browse(EVERYTHING, 3, before=first.older)
    assert ids(second) == newest_first[3:6]
    last = browse(EVERYTHING, 3, before=second.older)
    assert (ids(last), last.older) == (newest_first[6:], None)
    back = browse(EVERYTHING, 3, after=last.newer)
    assert ids(back) == newest_first[3:6]
    start = browse(EVERYTHING, 3, after=back.newer)
    assert (ids(start), start.newer) == (newest_first[:3], None)
    assert ids(browse(EVERYTHING, 3, before=start.older)) == newest_first[3:6]


def test_an_empty_history_is_one_empty_page() -> None:
    assert browse(EVERYTHING, 3) == module.Page([], None, None, False)
    assert count(EVERYTHING) == module.Count(0, is_exact=True)
    assert first_id_since(database_now()) == 0


def test_a_page_looks_at_no_more_than_its_bound_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LOOKED_AT", 4)
    newest_first = history("m....m....")
    page = browse(MAILS, 3, among=EVERYTHING)
    assert (ids(page), page.is_cut, page.older) == ([], True, newest_first[4] + 1)
    page = browse(MAILS, 3, among=EVERYTHING, before=page.older)
    assert (ids(page), page.is_cut) == ([newest_first[4]], True)
    page = browse(MAILS, 3, among=EVERYTHING, before=page.older)
    assert (ids(page), page.is_cut, page.older) == ([newest_first[9]], False, None)
    back = browse(MAILS, 3, among=EVERYTHING, after=page.newer)
    assert (ids(back), back.is_cut) == ([newest_first[4]], True)
    top = browse(MAILS, 3, among=EVERYTHING, after=back.newer)
    assert (ids(top), top.newer, top.is_cut) == ([], None, False)


def test_a_count_is_bounded_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    history("m....m....")
    assert count(EVERYTHING) == module.Count(10, is_exact=True)
    assert count(MAILS, EVERYTHING) == module.Count(2, is_exact=True)
    monkeypatch.setattr(module, "COUNTED", 5)
    assert count(EVERYTHING) == module.Count(5, is_exact=False)
    monkeypatch.setattr(module, "LOOKED_AT", 6)
    assert count(MAILS, EVERYTHING) == module.Count(1, is_exact=False)


def test_a_time_is_found_by_halving_whatever_ids_are_missing() -> None:
    rows = [
        finished(Status.SUCCESS, created_at=DatabaseNow(-hours * 3600))
        for hours in range(40, 0, -1)
    ]
    JobExecution.objects.filter(pk__in=[row.pk for row in rows[3:30:2]]).delete()
    left = list(JobExecution.objects.order_by("id"))
    for middle in (left[0], left[len(left) // 2], left[-1]):
        moment = middle.created_at
        since = JobExecution.objects.filter(id__gte=first_id_since(moment))
        until = JobExecution.objects.filter(id__lt=first_id_after(moment))
        assert set(since) >= {row for row in left if row.created_at >= moment}
        assert set(until) >= {row for row in left if row.created_at <= moment}
        # Not much more than that, either.
        assert all(row.created_at >= moment - timedelta(hours=1) for row in since)
        assert all(row.created_at <= moment + timedelta(hours=1.1) for row in until)
