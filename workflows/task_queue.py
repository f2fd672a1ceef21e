"""Where work waits for a worker."""

TASK_QUEUE = "whippletree"
