"""How shallow transformers learn, exactly where that is possible.

The names below are imported when they are first used, so that `attnflow --help`
and everything that only reads runs stay free of JAX.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnflow._outcome import Outcome as Outcome
    from attnflow.citation import citation as citation
    from attnflow.experiment import Computation as Computation
    from attnflow.experiment import Experiment as Experiment
    from attnflow.papers import paper as paper
    from attnflow.runner import Runner as Runner
    from attnflow.runner import run as run
    from attnflow.store import Store as Store
    from attnflow.store import export_netcdf as export_netcdf
    from attnflow.store import read_run_file as read_run_file

__version__ = "0.1.0"

_HOMES = {
    "Computation": "attnflow.experiment",
    "Experiment": "attnflow.experiment",
    "Outcome": "attnflow._outcome",
    "Runner": "attnflow.runner",
    "Store": "attnflow.store",
    "citation": "attnflow.citation",
    "export_netcdf": "attnflow.store",
    "paper": "attnflow.papers",
    "read_run_file": "attnflow.store",
    "run": "attnflow.runner",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


class _Package(ModuleType):
    """The package, on which a public name wins over a submodule of that name.

    Python binds a submodule to its package when it is first imported, so that
    `af.paper` would be a function before and a module after. (`from attnflow.paper
    import Request` does not ask the package, and works as always.)
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
