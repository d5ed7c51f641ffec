"""Rules of motion as plain records; `flow` and `descend` carry them out."""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs] # it has none

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType] # nor annotations
