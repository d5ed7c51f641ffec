"""How much a flow's records change at a tenth of its tolerance.

Conserved quantities can stay put while a solution goes wrong along them; solving anew
with `rtol` and `atol` divided by ten shows what the solver's error amounts to in each
recorded quantity.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from attnflow.experiments.record import Computation
from attnflow.training import Course, Stage
from attnflow.training.rules import Flow, per_part

FACTOR = 10


def require_flow(experiment: Any) -> None:
    """Refuse to check what has no tolerance."""
    if isinstance(experiment, Computation):
        raise ValueError(
            f"{experiment.id} trains nothing, so that there is no tolerance to check "
            "it at. Leave check out."
        )
    if not experiment.is_flow:
        raise ValueError(
            "A check repeats a gradient flow at a tenth of its tolerance; this "
            f"experiment is trained by {_rule_names(experiment)}, whose steps are "
            "exact: nothing is to be refined. Leave check out, or train by a Flow."
        )


def _rule_names(experiment: Any) -> str:
    rules = [per_part(stage.rule, stage.trains) for stage in experiment.stages]
    names = dict.fromkeys(rule.name for each in rules for rule in each.values())
    return ", ".join(names)


def finer(stage: Stage) -> Stage:
    """The stage at a tenth of its tolerances."""
    rule = stage.rule
    assert isinstance(rule, Flow)
    sharp = replace(rule, rtol=rule.rtol / FACTOR, atol=rule.atol / FACTOR)
    return replace(stage, rule=sharp)


def refinement(course: Course, fine: Course, names: tuple[str, ...]) -> dict[str, Any]:
    """Largest differences of two courses, relative to each observable's largest entry.

    Rows count that both have recorded; not a number where a seed's second course ended
    otherwise than its first, since then the two are not of the same stretch.
    """
    both = course.records.recorded & fine.records.recorded
    found = np.stack([_relative(course, fine, name, both) for name in names], axis=1)
    alike = [a is b for a, b in zip(course.outcomes, fine.outcomes, strict=True)]
    found[~(np.array(alike) & both.any(axis=1))] = np.nan
    about = "largest change at a tenth of the tolerance, relative to the largest entry"
    return {
        "refinement": ("seed", found.max(axis=1), {"about": about}),
        "refinement_by_observable": xr.DataArray(
            found,
            dims=("seed", "observable"),
            coords={"observable": list(names)},
            attrs={"about": about},
        ),
    }


def _relative(course: Course, fine: Course, name: str, both: np.ndarray) -> np.ndarray:
    first, second = course.records.rows[name], fine.records.rows[name]
    change = _largest(np.abs(first - second), both)
    size = _largest(np.abs(second), both)
    return np.where(change > 0, change / np.where(size > 0, size, 1.0), 0.0)


def _largest(values: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The largest entry of each seed among some of its rows; 0 where there are none."""
    by_time = values.reshape(*among.shape, -1).max(axis=-1)
    return np.where(among, by_time, 0.0).max(axis=1)
