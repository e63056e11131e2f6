"""pgqueuer."""
