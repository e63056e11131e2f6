"""What the dashboard's script says, in the reader's language."""

from __future__ import annotations

from django.utils.translation import gettext as _

from jobu.outcomes import FINISHED


def texts() -> dict[str, str]:
    """Return its texts by their keys; {} in one stands for what the script puts in."""
    return {
        **{status.value: str(status.label) for status in FINISHED},
        "all queues": _("all queues"),
        "beat": _("last heartbeat {} ago"),
        "capped": _("{} or more"),
        "disconnected": _("The numbers could not be refreshed ({}). It is tried again."),
        "forbidden": _("You are signed out, or may not look at this any more. Reload the page."),
        "in": _("in {}"),
        "longest": _("longest {}"),
        "no handlers": _("Nothing finished in this time."),
        "no processes": _("No process is running: start manage.py runworker."),
        "no ticks": _("No cron job is planned."),
        "no waiting": _("Nothing waits."),
        "now": _("now"),
        "of finished": _("of {}"),
        "of slots": _("of {} slots"),
        "paused": _("paused while this tab is hidden"),
        "per minute": _("per minute"),
        "refreshed": _("as of {}, every {}"),
        "running": _("running"),
        "since": _("since {}"),
        "stale": _("no heartbeat"),
        "stopping": _("stopping"),
        "unsummarized": _("Earlier history is being summarised: {} steps of the charts to go."),
    }
