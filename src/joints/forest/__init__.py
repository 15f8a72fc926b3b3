"""Random forests as flat arrays: growing them, routing rows through them, surrogate splits."""
