"""Alerts: tell people of dead executions, paused crons, late queues and missing workers."""
