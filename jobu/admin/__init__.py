"""The Django admin of jobu: what ran, what failed and why, what is next, who is working.

Each screen is a module or a package of its own; `shared` is what they have in common.
"""

from jobu.admin.api_tokens import ApiTokenAdmin
from jobu.admin.cron_jobs.model_admin import CronJobAdmin
from jobu.admin.dashboard import DashboardAdmin
from jobu.admin.dead_letters.model_admin import DeadLetterAdmin
from jobu.admin.executions.model_admin import JobExecutionAdmin
from jobu.admin.processes import ProcessAdmin

__all__ = [
    "ApiTokenAdmin",
    "CronJobAdmin",
    "DashboardAdmin",
    "DeadLetterAdmin",
    "JobExecutionAdmin",
    "ProcessAdmin",
]
