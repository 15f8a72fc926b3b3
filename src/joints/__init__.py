"""Joints in Random Forests: decision trees and random forests read as probabilistic circuits."""

__version__ = "0.1.0"
