"""Ablation: which settings that the paper leaves open affect its numbers, and by how much.

A variant is a method of the study with another setting of its own or of its forest.  `variants` reads a configuration,
`scoring` scores a variant on the study's own folds, masks and seeds, and `differences` compares it with the study's
scores, repetition by repetition.
"""
