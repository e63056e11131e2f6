"""The Django admin of jobu: what ran, what failed and why, what is next, who is working."""

from jobu.admin import api_tokens, cron_jobs, dashboard, dead_letters, executions, processes

__all__ = ["api_tokens", "cron_jobs", "dashboard", "dead_letters", "executions", "processes"]
