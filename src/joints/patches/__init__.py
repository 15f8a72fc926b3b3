"""Patches of other people's libraries, one module each.

A module says what is wrong upstream, how it was seen, which versions it was tested with, and what happens with another
version: the patch or plain behaviour, both with a warning, or a refusal, but never silence.  Nothing here imports the
rest of the package.
"""
