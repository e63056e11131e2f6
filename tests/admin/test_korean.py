"""Every word that the admin says has its Korean one."""

from __future__ import annotations

import ast
import gettext as gettext_module
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.utils import translation
from django.utils.translation.template import templatize

import jobu
from jobu.admin.shared.words import duration
from jobu.models import CronJob, DeadLetter, JobExecution, Process, Status
from tests.admin.pages import list_of, page_of
from tests.builders import DAY, cron, finished, process

ROOT = Path(jobu.__file__).parent
CATALOG = ROOT / "locale" / "ko" / "LC_MESSAGES" / "django.mo"
MARKS = {"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy"}
# What Django's own extraction makes of a template: calls, and letters in place of all that is none.
IN_TEMPLATE = re.compile(r"""gettext\((u?'(?:[^'\\]|\\.)*'|u?"(?:[^"\\]|\\.)*")""")


def spoken() -> Iterator[tuple[str, str]]:
    """Yield what is marked to be translated, and where."""
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                text = node.args[0] if node.args else None
                if node.func.id in MARKS and isinstance(text, ast.Constant):
                    yield text.value, path.name
    for path in (ROOT / "templates").rglob("*.html"):
        for literal in IN_TEMPLATE.findall(templatize(path.read_text(), origin=str(path))):
            yield ast.literal_eval(literal), path.name


@pytest.mark.pure
def test_nothing_is_untranslated() -> None:
    with CATALOG.open("rb") as stream:
        known = gettext_module.GNUTranslations(stream)._catalog  # type: ignore[attr-defined]
    translated = {key[0] if isinstance(key, tuple) else key for key, text in known.items() if text}
    found = list(spoken())
    assert len(found) > 300
    assert sorted({(text, where) for text, where in found if text not in translated}) == []


@pytest.mark.pure
def test_durations_are_said_in_korean() -> None:
    with translation.override("ko"):
        assert [duration(s) for s in (0.12, 8, 65, 7200)] == ["120ms", "8.0초", "1분 5초", "2시간"]


@pytest.mark.django_db
def test_the_pages_are_korean_for_those_who_ask_for_it(admin_client: Client) -> None:
    job = cron()
    failed = finished(Status.FAILED, job=job)
    worker = process(beat_seconds_ago=-DAY)
    expected = {
        list_of(CronJob): ["매일 02:00", "다음 실행", "최근 실행", "지금 실행"],
        page_of(job): ["크론 표현식", "놓친 틱", "우선순위", "백필"],
        list_of(JobExecution): ["핸들러", "실패", "재시도", "폐기", "최근 24시간"],
        page_of(failed): ["타임라인", "한눈에 보기", "다른 파라미터로 재시도"],
        list_of(Process): ["정상", "마지막 하트비트"],
        page_of(worker): ["호스트", "사용 중인 슬롯"],
        list_of(DeadLetter): ["데드 레터", "실행 기록이 되지 못한 메시지"],
    }
    for address, words in expected.items():
        page = admin_client.get(address, headers={"accept-language": "ko"}).text
        assert [word for word in words if word not in page] == [], address
        assert 'lang="ko"' in page
