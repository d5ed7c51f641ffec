"""Figures of `mixture`: each file has the plot, its numbers and what it must show."""
