"""The methods of the study, behind `joints.interface.Method`.

`config/methods.yaml` lists them.  Each class is in a module of its own, so that an edit of one method makes no other
method's results stale.
"""
