"""Figures from runs: Dataset in, matplotlib Figure out.

The names of `__init__.pyi` load on first use, so that a paper may declare its figures
without paying for matplotlib.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
