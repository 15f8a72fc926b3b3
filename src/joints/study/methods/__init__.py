"""The methods of the study, behind `joints.interface.Method`.

`config/methods.yaml` lists them.  Each class is in a module of its own, so that an edit to one method leaves the
results of all others valid.
"""
