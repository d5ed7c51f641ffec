"""The version, in the one place that packaging and every module read."""

__version__ = "0.1.0"
