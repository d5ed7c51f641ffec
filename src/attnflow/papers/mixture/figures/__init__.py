"""Figures of `mixture`: each file draws, measures, and says what must be seen."""
