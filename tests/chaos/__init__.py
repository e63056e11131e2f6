"""Real servers and real jobu processes, while something goes wrong: `python -m tests.chaos`."""
