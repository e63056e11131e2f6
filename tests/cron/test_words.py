"""How expressions read in English and Korean."""

from __future__ import annotations

import pytest

from jobu.cron import describe, next_times
from tests.cron.expressions import START

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("expression", "english", "korean"),
    [
        ("* * * * *", "Every minute", "매분"),
        ("*/15 * * * *", "Every 15 minutes", "15분마다"),
        ("0 * * * *", "Every hour", "매시간"),
        ("@hourly", "Every hour", "매시간"),
        ("5,35 * * * *", "Every hour at minute 5 and 35", "매시간 5, 35분"),
        ("1-59/2 * * * *", "Every hour at minute 1, 3 … 59", "매시간 1, 3 … 59분"),
        (
            "*/30 */2 * * *",
            "Every 2 hours at minute 0 and 30",
            "2시간마다 0, 30분",
        ),
        (
            "0 0 2-31,L * *",
            "At 00:00 on day 2 to day 31 and the last day of the month",
            "매월 2일~31일, 마지막 날 00:00",
        ),
        ("17 */6 * * *", "Every 6 hours at minute 17", "6시간마다 17분"),
        ("@daily", "At 00:00 every day", "매일 00:00"),
        ("0 9 * * 1", "At 09:00 on Monday", "월요일 09:00"),
        ("30 6 * * mon-fri", "At 06:30 on Monday to Friday", "월요일~금요일 06:30"),
        ("0 0 * * sat,sun", "At 00:00 on Saturday and Sunday", "토요일, 일요일 00:00"),
        ("0 9,12 * * *", "At 09:00 and 12:00 every day", "매일 09:00, 12:00"),
        ("0 9-17 * * *", "Every hour from 09:00 to 17:00 every day", "매일 09:00~17:00 매시간"),
        (
            "*/15 0-6,20 1 jan,jul *",
            "Every 15 minutes from 00:00 to 06:59 and 20:00 to 20:59 on day 1 in January and July",
            "1월, 7월 1일 00:00~06:59, 20:00~20:59 15분마다",
        ),
        (
            "5,50 9-17 * * *",
            "At minute 5 and 50 of hour 9 to 17 every day",
            "매일 9~17시 5, 50분",
        ),
        ("0 0 29 2 *", "At 00:00 on day 29 in February", "2월 29일 00:00"),
        (
            "0 0 15,L * *",
            "At 00:00 on day 15 and the last day of the month",
            "매월 15일, 마지막 날 00:00",
        ),
        (
            "0 9 * * 1#2",
            "At 09:00 on the second Monday of the month",
            "매월 둘째 월요일 09:00",
        ),
        ("0 9 * 2 L5", "At 09:00 on the last Friday in February", "2월 마지막 금요일 09:00"),
        (
            "0 0 1,15 * 1",
            "At 00:00 on day 1 and day 15 of the month or on Monday",
            "매월 1일, 15일 또는 월요일 00:00",
        ),
        (
            "0 0 */2 * mon",
            "At 00:00 on day 1, day 3 … day 31 of the month if it is Monday",
            "매월 1일, 3일 … 31일 중 월요일 00:00",
        ),
        ("0 0 1-31 * mon", "At 00:00 every day", "매일 00:00"),
        ("H(7-8)/1 3 * * *", "At 03:07 and 03:08 every day", "매일 03:07, 03:08"),
        ("every day", "every day", "every day"),
    ],
)
def test_an_expression_in_words(expression: str, english: str, korean: str) -> None:
    assert describe(expression) == english
    for language in ("en", "en-us", "de"):
        assert describe(expression, language=language) == english
    for language in ("ko", "ko-kr", "ko_KR"):
        assert describe(expression, language=language) == korean


def test_h_reads_as_the_time_that_it_stands_for() -> None:
    [tick] = next_times("H H * * *", "UTC", START, 1, seed="report")
    assert describe("H H * * *", seed="report") == f"At {tick:%H:%M} every day"
