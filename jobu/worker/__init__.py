"""The worker: claims executions, runs them in slots, settles what they came to."""
