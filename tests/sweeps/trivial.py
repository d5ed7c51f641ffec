"""Recipes whose cells cost next to nothing, importable by worker processes."""

import os
import signal
import time
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import xarray as xr

from attnflow.experiment import Computation
from attnflow.paper import Recipe
from attnflow.sweeps import Sweep, make_axes, parse_measure


@dataclass(frozen=True)
class Trivial:
    """What a trivial cell does."""

    a: float = 1.0
    b: int = 2
    width: int | Literal["infinite"] = 4
    names: tuple[str, ...] = ("x",)
    does: Literal["sum", "raise", "sleep", "die"] = "sum"
    when: float = 0.0
    seconds: float = 0.0

    def __post_init__(self):
        if self.b < 0:
            raise ValueError(f"b={self.b} is negative. Raise it.")


def build(setting):
    return Computation("test", "trivial", asdict(setting), "tests.sweeps.trivial:total")


def total(setting: dict[str, Any], seeds: list[int]) -> xr.Dataset:
    """a · b + seed, after what the setting says should happen where a == when."""
    time.sleep(setting["seconds"])
    if setting["a"] == setting["when"]:
        if setting["does"] == "raise":
            raise ValueError("this cell was told to raise")
        if setting["does"] == "sleep":
            time.sleep(60)
        if setting["does"] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
    value = setting["a"] * setting["b"] + np.array(seeds, float)
    return xr.Dataset({"sum": ("seed", value), "half": ("seed", value / 2)})


RECIPE = Recipe("trivial", "Trivial", Trivial(), "tests.sweeps.trivial:build")


def make_sweep(given, *, seeds=(0, 1), measures=("sum",), zipped=(), **options):
    from attnflow.setting import replace

    fixed, axes = make_axes(RECIPE.setting, given, zipped)
    return Sweep(
        RECIPE,
        replace(RECIPE.setting, fixed),
        axes,
        tuple(seeds),
        tuple(map(parse_measure, measures)),
        code="test",
        fixed=tuple(fixed.items()),
        **options,
    )
