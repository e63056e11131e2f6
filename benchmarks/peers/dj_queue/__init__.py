"""dj-queue."""
