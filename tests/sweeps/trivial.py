"""Recipes whose cells cost next to nothing, importable by worker processes."""

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

from attnflow.schema.declarations import Recipe
from attnflow.schema.settings import replace
from attnflow.sweeps import Cell, Column, Outline, Sweep, make_axes, parse_statistic


@dataclass(frozen=True)
class Trivial:
    """What a trivial cell does."""

    a: float = 1.0
    b: int = 2
    width: int | Literal["infinite"] = 4
    names: tuple[str, ...] = ("x",)

    def __post_init__(self):
        if self.b < 0:
            raise ValueError(f"b={self.b} is negative. Raise it.")


def build(setting):
    from attnflow.experiments import Computation

    return Computation("test", "trivial", asdict(setting), "tests.sweeps.trivial:total")


def total(setting: dict[str, Any], seeds: list[int]) -> xr.Dataset:
    """a · b + seed, and half of it."""
    value = setting["a"] * setting["b"] + np.array(seeds, float)
    return xr.Dataset({"sum": ("seed", value), "half": ("seed", value / 2)})


@dataclass(frozen=True)
class Direct:
    """a · b + seed without any run, so that workers import no JAX.

    `trouble` happens in cells with a == `where`, as long as the file `until` is not
    there; every cell that is begun leaves its a in the directory `log`.
    """

    trouble: Literal["", "raise", "sleep", "die", "interrupt"] = ""
    where: float = -1.0
    until: str = ""
    log: str = ""
    seconds: float = 0.0
    text: str = "sum"

    @property
    def outline(self) -> Outline:
        columns = {"sum": Column(), "sign": Column(by_seed=False, text=True)}
        return Outline(self.text, self.text, columns)

    def of(self, run: None, cell: Cell) -> Mapping[str, Any]:
        a, b = cell.changes["a"], cell.changes.get("b", 2)
        if self.log:
            Path(self.log, f"{a}-{b}-{os.getpid()}-{time.monotonic_ns()}").touch()
        time.sleep(self.seconds)
        if a == self.where and not (self.until and Path(self.until).exists()):
            self._meet_trouble()
        # No value that another order of operations could round otherwise is at stake.
        values = np.sin(a) * b + np.array(cell.seeds, float)
        return {"sum": values, "sign": "plus" if a > 0 else "minus"}

    def _meet_trouble(self) -> None:
        if self.trouble == "raise":
            raise ValueError("this cell was told to raise")
        if self.trouble == "interrupt":
            raise KeyboardInterrupt
        if self.trouble == "sleep":
            time.sleep(60)
        if self.trouble == "die":
            os.kill(os.getpid(), signal.SIGKILL)


RECIPE = Recipe("trivial", "Trivial", Trivial(), "tests.sweeps.trivial:build")


PLAIN = Direct()


def make_sweep(overrides, *, statistics=(PLAIN,), seeds=(0, 1), zipped=(), **options):
    fixed, axes = make_axes(RECIPE.setting, overrides, zipped)
    parsed = [parse_statistic(s) if isinstance(s, str) else s for s in statistics]
    return Sweep(
        RECIPE,
        replace(RECIPE.setting, fixed),
        axes,
        tuple(seeds),
        tuple(parsed),
        code="test",
        fixed=tuple(fixed.items()),
        **options,
    )
