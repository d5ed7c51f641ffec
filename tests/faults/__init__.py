"""Faults: killed, cut off, flipped or filled up, and an answer is right or an error.

`make test` runs a short part of each file; `make verify` runs them whole. Programs are
children of one process that has imported everything (`zygote.py`), so that a command
takes a fraction of a second.
"""
