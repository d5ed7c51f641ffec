"""What a setting, a run and a paper's declarations look like; files; free of JAX.

`attnflow.schema.dataset` has the table of a run's variables and attributes.
"""

import lazy_loader  # pyright: ignore[reportMissingTypeStubs] # it has none

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # pyright: ignore[reportUnknownVariableType] # nor annotations
