"""The one exception for what users can mend: a mistake in their input, or a failure outside of the program.

Its message is a whole sentence that says what was wrong, with which input, and what to do.  Scripts show that sentence
alone; any other exception is a defect of ours and keeps its traceback.
"""


class JointsError(Exception):
    """A failure that the message explains completely."""
