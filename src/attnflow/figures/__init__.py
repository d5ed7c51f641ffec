"""Figures from runs: Dataset in, matplotlib Figure out.

The names load on first use, so that a paper may declare its figures without paying
for matplotlib.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnflow.figures.axes import name_panel as name_panel
    from attnflow.figures.axes import number as number
    from attnflow.figures.axes import number_axis as number_axis
    from attnflow.figures.axes import panels as panels
    from attnflow.figures.axes import time_axis as time_axis
    from attnflow.figures.bars import deviation as deviation
    from attnflow.figures.bars import error_bars as error_bars
    from attnflow.figures.curves import curve as curve
    from attnflow.figures.curves import reference as reference
    from attnflow.figures.curves import series as series
    from attnflow.figures.curves import theory as theory
    from attnflow.figures.fields import field as field
    from attnflow.figures.fields import field_bar as field_bar
    from attnflow.figures.fields import outlined as outlined
    from attnflow.figures.frontiers import boundary_law as boundary_law
    from attnflow.figures.frontiers import condition as condition
    from attnflow.figures.frontiers import frontier as frontier
    from attnflow.figures.labels import label_ends as label_ends
    from attnflow.figures.ladder import fit_power as fit_power
    from attnflow.figures.ladder import ladder_plot as ladder_plot
    from attnflow.figures.maps import heatmap as heatmap
    from attnflow.figures.maps import heatmap_grid as heatmap_grid
    from attnflow.figures.names import selector_label as selector_label
    from attnflow.figures.names import typeset as typeset
    from attnflow.figures.palette import Theme as Theme
    from attnflow.figures.phases import limits_of as limits_of
    from attnflow.figures.phases import phase_grid as phase_grid
    from attnflow.figures.phases import phase_panel as phase_panel
    from attnflow.figures.phases import validity_panel as validity_panel
    from attnflow.figures.scores import score_grid as score_grid
    from attnflow.figures.scores import score_panel as score_panel
    from attnflow.figures.shading import shade_stages as shade_stages
    from attnflow.figures.shading import stage_boundaries as stage_boundaries
    from attnflow.figures.style import current_theme as current_theme
    from attnflow.figures.style import styled as styled
    from attnflow.figures.style import themed as themed
    from attnflow.figures.widths import beside as beside

_MODULES = {
    "axes": ("name_panel", "number", "number_axis", "panels", "time_axis"),
    "bars": ("deviation", "error_bars"),
    "fields": ("field", "field_bar", "outlined"),
    "frontiers": ("boundary_law", "condition", "frontier"),
    "labels": ("label_ends",),
    "ladder": ("fit_power", "ladder_plot"),
    "maps": ("heatmap", "heatmap_grid"),
    "names": ("selector_label", "typeset"),
    "palette": ("Theme",),
    "phases": ("limits_of", "phase_grid", "phase_panel", "validity_panel"),
    "scores": ("score_grid", "score_panel"),
    "curves": ("curve", "reference", "series", "theory"),
    "shading": ("shade_stages", "stage_boundaries"),
    "style": ("current_theme", "styled", "themed"),
    "widths": ("beside",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
