"""Probabilistic circuits: leaf densities, forests turned into circuits, exact marginal inference, sampling."""
