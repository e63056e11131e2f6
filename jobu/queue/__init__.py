"""What happens to executions: enqueue, claim, settle, rescue, cancel, retry, prune."""
