"""The queue: tasks, retries, recovery."""
