"""Make cron jobs of the schedules that handlers declare in code."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from jobu.conf import settings
from jobu.handlers.registry import handlers
from jobu.jsonable import ExactEncoder
from jobu.models import CronJob
from jobu.models.fields import project_timezone
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jobu.handlers.registry import HandlerSpec
    from jobu.handlers.schedule import Schedule

_Values = dict[str, Any]
_Digests = dict[str, str]

_PARTS = {
    "name": ("name",),
    "schedule": ("cron_expression", "timezone"),
    "handler": ("handler_name",),
    "params": ("handler_params",),
    "queue": ("queue",),
    "priority": ("priority",),
    "max_retry": ("max_retry",),
    "timeout_seconds": ("timeout_seconds",),
    "allow_overlap": ("allow_overlap",),
    "misfire": ("misfire",),
}
"""What code declares of a cron job; of each part, either code or whoever edited it has its way."""

_GONE = "gone "
"""Begins `CronJob.declared` if the schedule has vanished from the code, and we disabled the row."""
_NO_LONGER = "no longer declared in code"
UNCHANGED = "unchanged"


def sync(*, keep: bool = False) -> list[str]:
    """Create or update the declared cron jobs; return a line for each that says what was done.

    Edits in the admin stay: a part of a row is updated only if it is still what code declared
    before. A cron job whose schedule is no longer declared is disabled, unless `keep`.
    """
    declared = [(spec, schedule) for spec in handlers for schedule in spec.schedules]
    names = [schedule.name for _spec, schedule in declared]
    with write_transaction(settings.DATABASE):
        rows = list(
            CronJob.objects.select_for_update()
            .filter(Q(name__in=names) | ~Q(declared=""))
            .order_by("name")
        )
        found = _by_declared_name(rows)
        jobs = [_row_of(spec, schedule, found) for spec, schedule in declared]
        report = [
            f"{schedule.name}: {_sync_one(_wanted(spec, schedule), job)}"
            for (spec, schedule), job in zip(declared, jobs, strict=True)
        ]
        used = {job.pk for job in jobs if job is not None}
        report += [f"{job.name}: {_leave(job, keep=keep)}" for job in rows if job.pk not in used]
    return report


def _wanted(spec: HandlerSpec, schedule: Schedule) -> _Values:
    return {
        "name": schedule.name,
        "cron_expression": schedule.expression,
        "timezone": schedule.timezone or project_timezone(),
        "handler_name": spec.name,
        "handler_params": schedule.params,
        "queue": spec.options.queue,
        "priority": spec.options.priority,
        "max_retry": spec.options.max_retry,
        "timeout_seconds": spec.options.timeout_seconds,
        "allow_overlap": schedule.allow_overlap,
        "misfire": schedule.misfire,
    }


def _row_of(spec: HandlerSpec, schedule: Schedule, found: dict[str, CronJob]) -> CronJob | None:
    """Return the row of the schedule; one named like its handler was renamed with it."""
    former = spec.aliases if schedule.name == spec.name else ()
    return next((found[name] for name in (schedule.name, *former) if name in found), None)


def _by_declared_name(rows: Iterable[CronJob]) -> dict[str, CronJob]:
    """Return the rows by the names in code, present and former: somebody may have renamed one."""
    by_digest = {_digests(job.declared).get("name"): job for job in rows}
    names = {name for spec in handlers for name in spec.aliases if spec.schedules}
    names |= {schedule.name for spec in handlers for schedule in spec.schedules}
    renamed = {name: by_digest.get(_digest([name])) for name in names}
    return {
        **{name: job for name, job in renamed.items() if job is not None},
        **{job.name: job for job in rows if job.name in names},
    }


def _sync_one(wanted: _Values, job: CronJob | None) -> str:
    new = {part: _digest([wanted[name] for name in names]) for part, names in _PARTS.items()}
    if job is None:
        name = wanted["name"]
        defaults = {**wanted, "declared": _encoded(new)}
        job, is_created = CronJob.objects.select_for_update().get_or_create(
            name=name, defaults=defaults
        )
        if is_created:
            return f"created ({wanted['cron_expression']}, {wanted['timezone']})"
    if not job.declared:
        return f"made by hand, left as it is ({_shown(['schedule'], _values(job))})"
    changed, kept, known = _compare(new, _digests(job.declared), job)
    changes = {name: wanted[name] for part in changed for name in _PARTS[part]}
    said = [f"updated ({_shown(changed, wanted)})"] if changed else []
    if kept:
        said.append(f"edited by hand, kept ({_shown(kept, _values(job))})")
    if job.declared.startswith(_GONE) and not job.is_enabled:
        changes |= {"is_enabled": True, "problem": ""}
        said.append("declared again, enabled")
    if changes or _encoded(known) != job.declared:
        CronJob.objects.filter(pk=job.pk).update(**changes, declared=_encoded(known))
    return "; ".join(said) or UNCHANGED


def _compare(
    new: _Digests, before: _Digests, job: CronJob
) -> tuple[list[str], list[str], _Digests]:
    """Return the parts to update, those that hand and code both changed, and what to remember."""
    values = _values(job)
    changed, kept, known = [], [], dict(new)
    for part, names in _PARTS.items():
        now, was = _digest([values[name] for name in names]), before.get(part)
        if new[part] in {now, was} or was is None:
            continue
        if now == was:
            changed.append(part)
        else:
            kept.append(part)
            known[part] = was
    return changed, kept, known


def _leave(job: CronJob, *, keep: bool) -> str:
    """Disable a cron job that code no longer declares, once; who enables it again has their way."""
    if job.declared.startswith(_GONE):
        return f"{_NO_LONGER}; {'enabled by hand' if job.is_enabled else 'disabled'}"
    if keep or not job.is_enabled:
        return f"{_NO_LONGER}; left as it is"
    CronJob.objects.filter(pk=job.pk).update(
        is_enabled=False,
        problem=f"Disabled: {_NO_LONGER}.",
        declared=_GONE + _encoded(_digests(job.declared)),
    )
    return f"{_NO_LONGER}; disabled"


def _values(job: CronJob) -> _Values:
    return {name: getattr(job, name) for names in _PARTS.values() for name in names}


def _shown(parts: list[str], values: _Values) -> str:
    """Return the values of these parts; of params only that they are among them."""
    texts = {
        "schedule": f"{values['cron_expression']}, {values['timezone']}",
        "params": "params",
        "handler": f"handler {values['handler_name']}",
    }
    return "; ".join(texts.get(part) or f"{part} {values[_PARTS[part][0]]}" for part in parts)


def _digest(values: list[Any]) -> str:
    text = json.dumps(values, sort_keys=True, cls=ExactEncoder)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _encoded(digests: _Digests) -> str:
    """Return what `CronJob.declared` has: a digest of each part, as it was last declared."""
    return " ".join(digests.get(part, "-") for part in _PARTS)


def _digests(declared: str) -> _Digests:
    if "\n" in declared:
        # Of an earlier version, which declared nothing else.
        return {"schedule": _digest(declared.split("\n"))}
    digests = declared.removeprefix(_GONE).split()
    return {part: each for part, each in zip(_PARTS, digests, strict=False) if each != "-"}
