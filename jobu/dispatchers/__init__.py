"""Dispatchers: what makes executions of schedules and of messages."""
