"""The one exception for problems that users can fix: a mistake in their input, or a failure outside the program.

Its message says in one sentence what was wrong, with which input, and what to do.  Scripts show only that sentence; any
other exception is a bug of ours and keeps its traceback.
"""


class JointsError(Exception):
    """A failure that its message explains completely."""
