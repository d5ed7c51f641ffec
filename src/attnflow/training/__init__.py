"""Training: gradient flow and descent of a system, in stages, recorded at set times."""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs] # it has none

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType] # nor annotations
