"""The screen of executions: the list, the page of one, what can be done to them, publish."""
