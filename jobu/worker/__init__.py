"""The worker: claims executions, runs them in slots, settles their outcomes."""
