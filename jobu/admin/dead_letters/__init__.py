"""The screen of dead letters: the list, the page of one, requeue, discard."""
