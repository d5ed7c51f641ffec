"""Data: token sequences, one file per family of distributions, and real data sets.

The names of `__init__.pyi` load on first use: `attnflow.data.real` needs no JAX.
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs] # it has none

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType] # nor annotations
