"""Sweeps: an experiment over a grid of settings, on one machine or on many."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
