"""Mechanisms by which test values go missing, behind `joints.interface.Mechanism`: one module each.

`config/mechanisms.yaml` lists them, and `protocol.mechanisms` of a configuration says which ones a run has.
"""
