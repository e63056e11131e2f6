"""chancy."""
