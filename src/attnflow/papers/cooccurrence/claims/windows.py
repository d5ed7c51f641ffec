"""Values at T1, along Phase 1 and in Phase 2, by seed; and the sizes they have.

T1 is b0·t = 20, and T* the time at which the loss is 1/m. What a run does not reach is
not known, and NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence import stages
from attnflow.papers.cooccurrence.claims.evidence import WIDTHS
from attnflow.papers.cooccurrence.stages import formulas
from attnflow.papers.cooccurrence.stages.events import clock_rate
from attnflow.papers.cooccurrence.stages.formulas import END_OF_PHASE_ONE
from attnflow.schema.installation import xr

Series: TypeAlias = "Callable[[xr.Dataset], xr.DataArray]"
"""From a run to a table along time."""
BEGINS = {
    "readout_gain": (
        "it only sets the start of Phase 2, soon after which nothing changes"
    )
}
"""For `inert`: the series by which T1 is found."""
ladder = partial(c.Rungs, size="width", constant=3.0, each=True)
"""A ladder over the width with a point for each seed of each run."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of a run under Condition 1.

    - `width` m, `samples` n, `length` L, `neurons` m1.
    - `first` and `inner`: σ0² and σ1²; `key_norm`: σ0² m; `gain`: σ1² m m1.
    """

    width: float
    samples: float
    length: int
    neurons: int
    first: float
    inner: float

    @property
    def key_norm(self) -> float:
        """σ0² m."""
        return self.first * self.width

    @property
    def gain(self) -> float:
        """σ1² m m1, the mean of the initial readout gain; its inverse is a time."""
        return self.inner * self.width * self.neurons


def sizes(run: xr.Dataset) -> Sizes:
    """The sizes that a run's setting states."""
    setting = schema.setting_of(run)
    deviations = formulas.initial_scales(setting)
    return Sizes(
        setting["width"],
        setting["samples"],
        setting["length"],
        setting["neurons"],
        deviations.first**2,
        deviations.inner**2,
    )


def at_end(run: xr.Dataset, name: str) -> xr.DataArray:
    """An observable at the end of training, by seed.

    Not the last record: its time may miss the end by rounding.
    """
    return run[f"{name}{schema.AT_END}"].isel(stage=-1, drop=True)


def at_t1(run: xr.Dataset, name: str) -> xr.DataArray:
    """An observable at T1 = 20/(σ1² m m1), with which runs of Phase 1 end."""
    end = END_OF_PHASE_ONE / sizes(run).gain
    return at_end(run, name).where(look.ends(run) >= end * (1 - 1e-9))


def to_t1(run: xr.Dataset, name: str) -> xr.DataArray:
    """Records of an observable followed by its value at T1, along time."""
    records = run[name].isel(time=np.flatnonzero(look.recorded(run).all("seed")))
    last = at_t1(run, name).expand_dims(time=[float(look.ends(run).max())])
    return xr.concat([records, last], "time", coords="minimal", compat="override")


def phase_two(run: xr.Dataset) -> xr.DataArray:
    """The mask of records from b0·t = 20 to T*; empty where T* is not reached."""
    start = END_OF_PHASE_ONE / clock_rate(run)
    return look.between(run, start, stages.loss_reaches(run))


def largest(series: Series) -> Callable[[xr.Dataset], np.ndarray]:
    """The measure that is the largest entry of a series in Phase 2."""
    return lambda run: look.largest(series(run), phase_two(run))


def least(series: Series) -> Callable[[xr.Dataset], np.ndarray]:
    """The measure that is the least entry of a series in Phase 2."""
    return lambda run: look.least(series(run), phase_two(run))


def band(
    what: str,
    series: Series,
    order: Literal["theta", "theta-tilde"],
    *,
    constant: float = 2.0,
) -> tuple[c.Rungs, c.Rungs]:
    """Ladders of the least and of the largest entry of a series in Phase 2."""
    return (
        ladder(f"least {what}", least(series), order, constant=constant),
        ladder(f"largest {what}", largest(series), order, constant=constant),
    )


def weights_by_type(run: xr.Dataset) -> tuple[xr.DataArray, ...]:
    """Σ_k over n: logistic weights summed over samples with both targets, …."""
    kinds = ("both", "first", "second", "neither")
    pull = run["pull_by_group"]
    return tuple(pull.sel(group=kind, drop=True) for kind in kinds)


def velocities(run: xr.Dataset) -> tuple[xr.DataArray, ...]:
    """G1', G2' and −G3', by seed and time."""
    rate = run["value_rate"].isel(head=0, drop=True)
    first, second, common = (
        rate.sel(token=token, drop=True) for token in ("mu1", "mu2", "mu3")
    )
    return first, second, -common


def with_width(names: mutate.Names, exponent: float) -> mutate.NamedMutation:
    """Mutation that multiplies variables by (m / 512)^exponent."""
    return with_size(names, exponent, "width", WIDTHS[0])


def with_size(
    names: mutate.Names, exponent: float, field: str, unit: float
) -> mutate.NamedMutation:
    """Mutation that multiplies variables by a power of a size of the setting."""
    variables = (names,) if isinstance(names, str) else names

    def change(run: xr.Dataset) -> xr.Dataset:
        factor = (schema.setting_of(run)[field] / unit) ** exponent
        return run.assign({n: run[n] * factor for n in variables if n in run})

    symbol = {"width": "m", "samples": "n"}.get(field, field)
    text = f"{', '.join(variables)} times {symbol} to the power {exponent:g}"
    return mutate.on_run(text, mutate.EVERY, change)
