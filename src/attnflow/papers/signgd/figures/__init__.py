"""Figures and tables of `signgd`."""
