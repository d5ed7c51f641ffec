"""The figures of `cooccurrence`, the paper's own first."""

from attnflow.paper import Exhibit

EXHIBITS: tuple[Exhibit, ...] = ()
