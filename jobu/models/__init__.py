"""The tables of jobu."""

from jobu.models.alert_state import AlertState
from jobu.models.api_token import ApiToken
from jobu.models.cron_job import CronJob
from jobu.models.dead_letter import DeadLetter
from jobu.models.job_execution import JobExecution
from jobu.models.log_line import LogLine
from jobu.models.process import Process
from jobu.models.summary import Dashboard, Summary
from jobu.models.tally import Tally
from jobu.outcomes import Status

__all__ = [
    "AlertState",
    "ApiToken",
    "CronJob",
    "Dashboard",
    "DeadLetter",
    "JobExecution",
    "LogLine",
    "Process",
    "Status",
    "Summary",
    "Tally",
]
