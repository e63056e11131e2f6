"""Say a cron expression in words, in English or Korean.

Not by cron-descriptor: its Korean names days and months in the process's locale ("Monday에"), it
knows neither `@daily` nor `H`, and it drops the numbers of `1#1,3#2`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from jobu.cron.parsing import parse
from jobu.cron.schedule import LAST, Schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class _Language(NamedTuple):
    every_minute: str = "every minute"
    every_minutes: str = "every {} minutes"
    every_hour: str = "every hour"
    every_hours: str = "every {} hours"
    past: str = " at minute {}"
    of_hours: str = "at minute {minutes} of hour {hours}"
    during: str = "{interval} from {spans}"
    at: str = "at {}"
    every_day: str = "every day"
    of_each_month: str = "{} of the month"
    days: str = "on {}"
    day: str = "day {}"
    last_day: str = "the last day"
    nth: str = "the {place} {weekday}"
    either: str = "{} or {}"
    both: str = "{} if it is {}"
    months: str = "in {}"
    span: str = "{} to {}"
    final: str = " and "
    sentence: str = "{time} {days} {months}"
    places: str = "last first second third fourth fifth"
    weekday_names: str = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday"
    month_names: str = (
        "January February March April May June July August September October November December"
    )


_ENGLISH = _Language()
_KOREAN = _Language(
    every_minute="매분",
    every_minutes="{}분마다",
    every_hour="매시간",
    every_hours="{}시간마다",
    past=" {}분",
    of_hours="{hours}시 {minutes}분",
    during="{spans} {interval}",
    at="{}",
    every_day="매일",
    of_each_month="매월 {}",
    days="{}",
    day="{}일",
    last_day="마지막 날",
    nth="{place} {weekday}",
    either="{} 또는 {}",
    both="{} 중 {}",
    months="{}",
    span="{}~{}",
    final=", ",
    sentence="{months} {days} {time}",
    places="마지막 첫째 둘째 셋째 넷째 다섯째",
    weekday_names="일요일 월요일 화요일 수요일 목요일 금요일 토요일",
    month_names="1월 2월 3월 4월 5월 6월 7월 8월 9월 10월 11월 12월",
)


def describe(expression: str, *, language: str = "en", seed: str = "") -> str:
    """Return words such as "At 09:00 on Monday", or the expression itself if it does not parse.

    Korean for `ko` and its variants, English for every other language; `H` shows as the time that
    it stands for with this seed.
    """
    try:
        schedule = parse(expression, seed)
    except ValueError:
        return expression
    words = _KOREAN if language.lower().startswith("ko") else _ENGLISH
    all_months = len(schedule.months) == 12
    month_names = words.month_names.split()
    months = _names(sorted(schedule.months), lambda month: month_names[month - 1], words)
    sentence = words.sentence.format(
        time=_time(schedule, words),
        days=_days(schedule, words, words.of_each_month if all_months else "{}"),
        months="" if all_months else words.months.format(months),
    )
    text = " ".join(sentence.split())
    return text[0].upper() + text[1:]


def _time(schedule: Schedule, words: _Language) -> str:
    minutes, hours = schedule.minutes, schedule.hours
    times = [f"{hour:02}:{minute:02}" for hour in hours for minute in minutes]
    minute_step, hour_step = _step(minutes, 60), _step(hours, 24)
    if minute_step and (hour_step == 1 or len(_split(hours)) <= 3):
        interval = (
            words.every_minutes.format(minute_step) if minute_step > 1 else words.every_minute
        )
        spans = [words.span.format(f"{run[0]:02}:00", f"{run[-1]:02}:59") for run in _split(hours)]
        spans = [] if hour_step == 1 else spans
    elif hour_step:
        interval = words.every_hours.format(hour_step) if hour_step > 1 else words.every_hour
        return interval + (words.past.format(_names(minutes, str, words)) if any(minutes) else "")
    elif len(minutes) == 1 and len(hours) > 2 and len(_split(hours)) == 1:
        interval, spans = words.every_hour, [words.span.format(times[0], times[-1])]
    elif len(times) <= 8:
        return words.at.format(_list(times, words))
    else:
        named = [_names(values, str, words) for values in (minutes, hours)]
        return words.of_hours.format(minutes=named[0], hours=named[1])
    return words.during.format(interval=interval, spans=_list(spans, words)) if spans else interval


def _days(schedule: Schedule, words: _Language, of_month: str) -> str:
    any_day, any_weekday = schedule.month_days >= {*range(1, 32)}, len(schedule.weekdays) == 7
    if (any_day and any_weekday) or (not schedule.both_days and (any_day or any_weekday)):
        return "" if _step(schedule.hours, 24) else words.every_day
    numbers = _names(sorted(schedule.month_days - {LAST}), words.day.format, words)
    last = words.last_day if LAST in schedule.month_days else ""
    days = words.days.format(of_month.format(_list([*filter(None, [numbers, last])], words)))
    weekdays = _weekdays(schedule, words, of_month)
    if any_weekday:
        return days
    if any_day:
        return words.days.format(weekdays)
    if schedule.both_days:
        return words.both.format(days, weekdays)
    return words.either.format(days, words.days.format(weekdays))


def _weekdays(schedule: Schedule, words: _Language, of_month: str) -> str:
    names, places = words.weekday_names.split(), words.places.split()
    if not schedule.nth_weekdays:
        from_monday = sorted((day or 7) for day in schedule.weekdays)
        return _names(from_monday, lambda day: names[day % 7], words)
    nth = [
        words.nth.format(place=places[max(place, 0)], weekday=names[day])
        for day, place in sorted(schedule.nth_weekdays, key=lambda pair: (pair[1] % 9, pair[0]))
    ]
    return of_month.format(_list(nth, words))


def _step(values: Sequence[int], size: int) -> int | None:
    """Return the distance of values that are spaced evenly around the clock."""
    step = values[1] - values[0] if len(values) > 1 else size
    return step if size % step == 0 and [*values] == [*range(0, size, step)] != [0] else None


def _split(values: Sequence[int]) -> list[list[int]]:
    """Split sorted values where they do not follow on each other."""
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][-1] == value - 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return runs


def _names(values: Sequence[int], name: Callable[[int], str], words: _Language) -> str:
    """Name sorted values, short where they follow on each other or have one distance."""
    distances = {late - early for early, late in pairwise(values)}
    if len(values) > 5 and len(distances) == 1 and distances != {1}:
        return f"{name(values[0])}, {name(values[1])} … {name(values[-1])}"
    found: list[str] = []
    for run in _split(values):
        if len(run) > 2:
            found.append(words.span.format(name(run[0]), name(run[-1])))
        else:
            found.extend(map(name, run))
    return _list(found, words)


def _list(items: Sequence[str], words: _Language) -> str:
    *most, last = items or [""]
    return ", ".join(most) + (words.final if most else "") + last
