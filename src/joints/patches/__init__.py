"""Patches of other people's libraries, one module each.

A module says what is wrong upstream, how it was seen, which versions it was tested with, and what happens with a
version that it does not know.
"""
