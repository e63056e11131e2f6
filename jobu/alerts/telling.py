"""Tell what is new: store what was told, and enqueue the message, in one transaction.

The rows are the truth: an execution that died stays in the table, so whoever looks next finds it.
Whatever is killed here, nothing is lost and nothing is told twice.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import F
from django.utils import translation

from jobu.alerts.config import read_alerts
from jobu.alerts.finding import CONDITIONS, find_deaths
from jobu.alerts.sending import ALERT_HANDLER, ALERT_QUEUE
from jobu.conf import settings
from jobu.dialects import database_time, statement_bound
from jobu.models import AlertState
from jobu.models.process import ProcessKind
from jobu.queue.enqueue import enqueue
from jobu.reading.waits import living_processes
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from jobu.alerts.config import Alerts
    from jobu.alerts.finding import DeathGroup, Wrong

DIED = "died"
LONGEST_LOOK_BACK = timedelta(days=1)
PATIENCE = {"no_worker": timedelta(minutes=1)}
"""How long something must be wrong before it is told."""
_SEEN_RECENTLY = timedelta(minutes=2)
_MAX_LINES = 30


def look_interval() -> float:
    """Return how often somebody looks, in seconds."""
    return settings.LEASE_SECONDS / 3


def tell_news() -> int:
    """Look for news, unless somebody has just looked; return how many messages it makes."""
    alerts = read_alerts()
    if alerts is None:
        return 0
    now = database_time(settings.DATABASE)
    states = _states(alerts, now)
    told = 0
    with translation.override(None):
        for kind in alerts.kinds:
            state = states[kind]
            if (now - state.looked_at).total_seconds() >= look_interval() or not state.revision:
                told += _tell(state, alerts, now)
    return told


def _states(alerts: Alerts, now: datetime) -> dict[str, AlertState]:
    states = {state.kind: state for state in AlertState.objects.all()}
    missing = [kind for kind in alerts.kinds if kind not in states]
    if missing:
        # History is not told of.
        new = [AlertState(kind=kind, looked_until=now - _grace()) for kind in missing]
        AlertState.objects.bulk_create(new, ignore_conflicts=True)
        states = {state.kind: state for state in AlertState.objects.all()}
    return states


def _tell(state: AlertState, alerts: Alerts, now: datetime) -> bool:
    """Tell what is new of one kind; store that it was told, or that there was nothing."""
    shortest = timedelta(minutes=alerts.every_minutes)
    is_soon = state.told_at is not None and now - state.told_at < shortest
    changes: dict[str, Any] = {"looked_at": now}
    alert: dict[str, Any] | None = None
    if state.kind == DIED:
        if is_soon:
            # Told together with what comes until then: it is all in the rows.
            return False
        since = max(state.looked_until, now - LONGEST_LOOK_BACK)
        deaths = find_deaths(since, now - _grace())
        changes["looked_until"] = deaths.looked_until
        alert = _alert_of_deaths(deaths.groups, alerts) if deaths.groups else None
    else:
        title, find = CONDITIONS[state.kind]
        wrong = find(alerts, now)
        since_when, told, new = _compare(state, wrong, now)
        if new and not is_soon:
            alert = _alert_of_wrong(state.kind, title, [wrong[key] for key in new], alerts)
            told += new
        changes["told"] = {"seen": since_when, "told": told}
    if alert is not None:
        changes["told_at"] = now
    return _store(state, changes, alert, alerts)


def _compare(
    state: AlertState, wrong: Wrong, now: datetime
) -> tuple[dict[str, str], list[str], list[str]]:
    """Return since when each is wrong, what of it was told, and what is to be told now.

    A missing process is told only when it has been missing for a while: at a deployment one starts
    after another.
    """
    known = state.told or {}
    # What was seen before all processes were away for a while says nothing.
    seen = known.get("seen", {}) if now - state.looked_at < _SEEN_RECENTLY else {}
    since = {key: seen.get(key, now.isoformat()) for key in wrong}
    told = [key for key in known.get("told", []) if key in wrong]
    patience = PATIENCE.get(state.kind, timedelta())
    new = [
        key
        for key in wrong
        if key not in told and now - datetime.fromisoformat(since[key]) >= patience
    ]
    return since, told, new


def _store(
    state: AlertState, changes: dict[str, Any], alert: dict[str, Any] | None, alerts: Alerts
) -> bool:
    unchanged = AlertState.objects.filter(pk=state.pk, revision=state.revision)
    with write_transaction(settings.DATABASE):
        # First, because it locks the row: of two who found the same, one finds it changed.
        if not unchanged.update(revision=F("revision") + 1, **changes) or alert is None:
            return False
        queue = _served_queue()
        for target in alerts.targets:
            enqueue(ALERT_HANDLER, {"target": target.name, "alert": alert}, queue=queue)
    return True


def _served_queue() -> str:
    """Return a queue from which somebody takes the message.

    Its own, if a worker serves that or no worker is alive; then another process sends it. Otherwise
    one that is served.
    """
    living = living_processes()
    workers = [each for each in living if each.kind == ProcessKind.WORKER and not each.is_stopping]
    if not workers or any(each.serves(ALERT_QUEUE) for each in workers):
        return ALERT_QUEUE
    return workers[0].queues[0]


def _grace() -> timedelta:
    """Return how long after its finish a death is certain to be in the table.

    It is committed a moment after the time that it carries; no statement takes longer than this.
    """
    return timedelta(seconds=2 * statement_bound())


def _alert_of_deaths(groups: list[DeathGroup], alerts: Alerts) -> dict[str, Any]:
    total = sum(group.count for group in groups)
    handlers = {group.handler for group in groups}
    executions = "execution" if total == 1 else "executions"
    if len(groups) == 1:
        title = f"{total:,} {executions} of {groups[0].handler} died: {groups[0].error}"
    else:
        of = f"{len(handlers)} handlers" if len(handlers) > 1 else groups[0].handler
        title = f"{total:,} {executions} of {of} died"
    lines = [line for group in groups[:_MAX_LINES] for line in _lines_of(group, alerts)]
    if len(groups) > _MAX_LINES:
        lines.append(f"and {len(groups) - _MAX_LINES} more kinds")
    items = [group.as_json() for group in groups[:_MAX_LINES]]
    return _alert(DIED, title, lines, items, alerts)


def _lines_of(group: DeathGroup, alerts: Alerts) -> list[str]:
    when = f"{group.first:%Y-%m-%d %H:%M:%S %Z}"
    if group.count > 1:
        when = f"from {when} to {group.last:%Y-%m-%d %H:%M:%S %Z}"
    ids = ", ".join(f"#{pk}" for pk in group.ids) + (", …" if group.count > len(group.ids) else "")
    lines = [f"{group.count:,} × {group.handler}, {when}: {ids}", f"    {group.message}"]
    if alerts.admin_url:
        root = alerts.admin_url.rstrip("/")
        lines.append(f"    {root}/jobu/jobexecution/{group.ids[0]}/change/")
    return lines


def _alert_of_wrong(kind: str, title: str, new: list[str], alerts: Alerts) -> dict[str, Any]:
    counted = title if len(new) == 1 else f"{title} (and {len(new) - 1} more)"
    return _alert(kind, counted, new[:_MAX_LINES], [{"text": text} for text in new], alerts)


def _alert(
    kind: str, title: str, lines: list[str], items: list[dict[str, Any]], alerts: Alerts
) -> dict[str, Any]:
    return {
        "kind": kind,
        "title": f"[{alerts.name}] {title}",
        "text": "\n".join(lines),
        "items": items,
    }


def sample_alert(alerts: Alerts) -> dict[str, Any]:
    """Return a message that says that messages arrive."""
    lines = [
        "If you can read this, alerts of jobu reach you here.",
        f"Told: {', '.join(alerts.kinds)}",
    ]
    return _alert("test", "a test", lines, [], alerts)
