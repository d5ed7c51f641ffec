"""Figures of `cooccurrence`, one file for each."""
