"""The figures and tables of `signgd`."""

from attnflow.paper import Exhibit

EXHIBITS: tuple[Exhibit, ...] = ()
