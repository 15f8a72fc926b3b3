"""From a catalogue entry to arrays: the first stage of the workflow (the paper's appendix C, "Dataset details").

`fetch` gets the raw table of a dataset from the first of its sources that works, `encode` turns it into a `Dataset`
and checks the paper's five numbers, and every later stage reads that `Dataset`.
"""

from joints.data.dataset import Dataset

__all__ = ["Dataset"]
