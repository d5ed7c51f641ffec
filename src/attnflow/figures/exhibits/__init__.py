"""Kinds of exhibits, as records: one table is drawn, tabulated and judged.

A figure is `Panels((…))`, with a record for each panel: `Course` for series along
training, `Curves` for numbers against a parameter, `Ladder` for numbers against a size
with their slope, `Map` for a table over two settings, `Table` for cells with names,
`Timeline` for ends of stages, `Rows` for dots by setting, `Bars` for numbers by name,
and `Free` for what no kind draws. The names of `__init__.pyi` load on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
