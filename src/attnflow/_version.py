"""The version and its date, in the one place that packaging and every module read."""

__version__ = "0.2.0"
RELEASED = "2026-11-19"
