"""Changes of the evidence under which a verdict must change.

A claim that cannot fail is a bug. `attnflow.claims.trials` generates changes of what a
judge reads; here are their parts, and those that a claim names itself. Mutations copy:
evidence is never changed in place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from attnflow import schema
from attnflow.claims.base import Evidence, Mutation
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr
from attnflow.schema.settings import Scalar, Value, look_up

Names = str | tuple[str, ...]
ArrayChange: TypeAlias = "Callable[[xr.DataArray], xr.DataArray]"
EVERY = "*"
_ENDS = ("end_time", "stage_start", "stage_end")


@dataclass(frozen=True)
class NamedMutation:
    """A mutation with a name for messages; call it with the evidence."""

    name: str
    change: Mutation

    def __call__(self, evidence: Evidence) -> Evidence:
        """The mutated evidence; the argument is not changed."""
        return self.change(evidence)


def named(*mutations: NamedMutation) -> dict[str, Mutation]:
    """Mutations by their names, as `Claim.mutations` takes them."""
    by_name: dict[str, Mutation] = {mutation.name: mutation for mutation in mutations}
    if len(by_name) != len(mutations):
        raise ValueError("Two mutations have the same name: give each its own.")
    return by_name


def mapped(
    name: str, run: str, variables: Names, function: ArrayChange
) -> NamedMutation:
    """The mutation that replaces variables by `function(variable)`.

    `run` is the name of a run in the evidence, or `*` for all of them; each variable
    must be in the run.
    """

    def change(dataset: xr.Dataset) -> xr.Dataset:
        known = {str(v): v for v in dataset.data_vars}
        requested = (variables,) if isinstance(variables, str) else variables
        names = [look_up("variable of this run", v, known) for v in requested]
        return dataset.assign({v: function(dataset[v].copy(deep=True)) for v in names})

    return on_run(name, run, change)


def on_run(
    name: str, run: str, change: Callable[[xr.Dataset], xr.Dataset]
) -> NamedMutation:
    """The mutation that changes one run of the evidence, or all with `*`."""

    def mutate(evidence: Evidence) -> Evidence:
        if run != EVERY:
            look_up("run in the evidence", run, evidence)
        return {
            key: change(dataset) if run in (key, EVERY) else dataset
            for key, dataset in evidence.items()
        }

    where = "" if run == EVERY else f" in {run}"
    return NamedMutation(f"{name}{where}", mutate)


def scale(run: str, variables: Names, factor: float) -> NamedMutation:
    """Multiply by a factor."""
    return _mapped(run, variables, f"times {factor:g}", lambda a: a * factor)


def grow(runs: Sequence[str], variable: str, factor: float) -> NamedMutation:
    """Multiply by a factor once more from run to run, the first of them unchanged."""

    def mutate(evidence: Evidence) -> Evidence:
        powers = {run: factor**k for k, run in enumerate(runs)}
        return {
            name: run.assign({variable: run[variable] * powers[name]})
            if name in powers
            else run
            for name, run in evidence.items()
        }

    return NamedMutation(f"{variable} times {factor:g} from run to run", mutate)


def add(run: str, variables: Names, amount: float) -> NamedMutation:
    """Add a number."""
    return _mapped(run, variables, f"plus {amount:g}", lambda a: a + amount)


def negate(run: str, variables: Names) -> NamedMutation:
    """Change the sign."""
    return _mapped(run, variables, "negated", lambda a: -a)


def power(run: str, variables: Names, exponent: float) -> NamedMutation:
    """Raise magnitudes to a power: what was size^s becomes size^(s · exponent)."""

    def change(array: xr.DataArray) -> xr.DataArray:
        values = array.values
        return array.copy(data=np.sign(values) * np.abs(values) ** exponent)

    return _mapped(run, variables, f"to the power {exponent:g}", change)


def reverse(run: str, variables: Names, dim: str) -> NamedMutation:
    """Reverse values along a dim; labels stay."""

    def change(array: xr.DataArray) -> xr.DataArray:
        return _reordered(array, dim, np.arange(array.sizes[dim])[::-1])

    return _mapped(run, variables, f"reversed along {dim}", change)


def shuffle(run: str, variables: Names, dim: str, *, seed: int = 0) -> NamedMutation:
    """Move every value to another index along a dim, at random; labels stay."""

    def change(array: xr.DataArray) -> xr.DataArray:
        cycle = np.random.default_rng(seed).permutation(array.sizes[dim])
        indices = np.empty_like(cycle)
        indices[cycle] = np.roll(cycle, 1)
        return _reordered(array, dim, indices)

    return _mapped(run, variables, f"shuffled along {dim}", change)


def swap(
    run: str, variables: Names, dim: str, labels: tuple[Scalar, Scalar]
) -> NamedMutation:
    """Exchange the values at two labels of a dim."""

    def change(array: xr.DataArray) -> xr.DataArray:
        known = {str(v): i for i, v in enumerate(array[dim].values.tolist())}
        first, second = (look_up(dim, str(label), known) for label in labels)
        indices = np.arange(array.sizes[dim])
        indices[[first, second]] = indices[[second, first]]
        return _reordered(array, dim, indices)

    return _mapped(
        run, variables, f"with {labels[0]} and {labels[1]} exchanged", change
    )


def constant(run: str, variables: Names, dim: str = TIME) -> NamedMutation:
    """Keep the first value along a dim: along time, nothing is learned."""

    def change(array: xr.DataArray) -> xr.DataArray:
        first = array.isel({dim: 0}, drop=True)
        return xr.where(array.notnull(), first, array).transpose(*array.dims)

    return _mapped(run, variables, f"constant along {dim}", change)


def later(run: str, variables: Names, factor: float) -> NamedMutation:
    """Multiply all records but the first by a factor."""

    def change(array: xr.DataArray) -> xr.DataArray:
        first = array[TIME] == array[TIME][0]
        return array.where(first, array * factor)

    return _mapped(run, variables, f"times {factor:g} after the start", change)


def shift(run: str, variables: Names, by: float) -> NamedMutation:
    """Delay a series: value(t) becomes value(t − by), constant beyond the ends."""

    def change(array: xr.DataArray) -> xr.DataArray:
        axis = array.get_axis_num(TIME)
        time = array[TIME].values.astype(float)
        values = np.apply_along_axis(_delayed, axis, array.values, time, by)
        return array.copy(data=values)

    return _mapped(run, variables, f"delayed by {by:g}", change)


def noise(
    run: str, variables: Names, relative: float, *, seed: int = 0
) -> NamedMutation:
    """Add Gaussian noise of `relative` times the largest magnitude."""

    def change(array: xr.DataArray) -> xr.DataArray:
        drawn = np.random.default_rng(seed).normal(size=array.shape)
        known = array.values[np.isfinite(array.values)]
        size = float(np.abs(known).max(initial=0.0))
        return array + relative * size * drawn

    return _mapped(run, variables, f"with {relative:g} relative noise", change)


def replace(run: str, variables: Names, value: Scalar) -> NamedMutation:
    """Set all recorded values to the same one."""
    return _mapped(
        run, variables, f"set to {value}", lambda a: xr.where(a.notnull(), value, a)
    )


def setting(run: str, **changes: Value) -> NamedMutation:
    """Change the setting that the run states: formulas move, data does not."""

    def change(dataset: xr.Dataset) -> xr.Dataset:
        old = schema.setting_of(dataset)
        for key in changes:
            look_up("setting of this run", key, old)
        return dataset.assign_attrs(setting=json.dumps({**old, **changes}))

    texts = ", ".join(f"{key}={value}" for key, value in changes.items())
    return on_run(f"setting {texts}", run, change)


def scale_setting(key: str, factor: float) -> NamedMutation:
    """Multiply a number of all runs' settings; whole numbers stay whole."""

    def change(dataset: xr.Dataset) -> xr.Dataset:
        setting = json.loads(dataset.attrs.get("setting", "{}"))
        value = setting.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return dataset
        changed = {**setting, key: type(value)(value * factor)}
        return dataset.assign_attrs(setting=json.dumps(changed))

    return on_run(f"setting {key} times {factor:g}", EVERY, change)


def only(run: str, mutation: NamedMutation) -> NamedMutation:
    """A mutation of all runs, applied to a single run."""

    def mutate(evidence: Evidence) -> Evidence:
        dataset = look_up("run in the evidence", run, evidence)
        return {**evidence, run: mutation({run: dataset})[run]}

    return NamedMutation(f"{mutation.name}, only {run}", mutate)


def some_seeds(fraction: float, mutation: NamedMutation) -> NamedMutation:
    """A mutation of the first `fraction` of the seeds alone (rounded up)."""

    def mutate(evidence: Evidence) -> Evidence:
        mutated = mutation(evidence)
        return {run: _mixed(evidence[run], mutated[run], fraction) for run in evidence}

    return NamedMutation(f"{mutation.name}, in {fraction:g} of the seeds", mutate)


def both(*mutations: NamedMutation) -> NamedMutation:
    """Several mutations, one after the other."""

    def mutate(evidence: Evidence) -> Evidence:
        for mutation in mutations:
            evidence = mutation(evidence)
        return evidence

    return NamedMutation(" and ".join(m.name for m in mutations), mutate)


def slow_down(factor: float) -> NamedMutation:
    """Let each run take `factor` times longer than the one before: times drift."""

    def mutate(evidence: Evidence) -> Evidence:
        return {
            name: _slower(run, factor**place)
            for place, (name, run) in enumerate(evidence.items())
        }

    return NamedMutation(f"each run {factor:g} times slower than the last", mutate)


def _slower(run: xr.Dataset, factor: float) -> xr.Dataset:
    if TIME not in run.dims:
        return run
    ends = {n: run[n] * factor for n in _ENDS if n in run}
    return run.assign(ends).assign_coords({TIME: run[TIME] * factor})


def cut(run: str, share: float) -> NamedMutation:
    """End a run at a share of its time: what comes later was never computed.

    With share 0 the first record is left: an untrained run. Values at the ends of
    stages become those of the last record that is left, NaN where they were not
    recorded.
    """

    def change(dataset: xr.Dataset) -> xr.Dataset:
        return _cut(dataset, share) if TIME in dataset.dims else dataset

    return on_run(f"cut at {share:g} of its time", run, change)


def hole(run: str, share: float = 0.25) -> NamedMutation:
    """Make a share of the records, in the middle of them, unknown."""

    def change(dataset: xr.Dataset) -> xr.Dataset:
        if TIME not in dataset.dims:
            return dataset
        count = dataset.sizes[TIME]
        rows = np.arange(count)
        start = max(1, int(count * (1 - share) / 2))
        inside = (rows >= start) & (rows < max(start + 1, start + int(share * count)))
        keep = xr.DataArray(~inside, dims=TIME, coords={TIME: dataset[TIME]})
        return dataset.assign(
            {
                name: array.where(keep).transpose(*array.dims)
                for name, array in dataset.data_vars.items()
                if TIME in array.dims and array.dtype.kind == "f"
            }
        )

    return on_run(f"{share:g} of the records unknown", run, change)


def _cut(dataset: xr.Dataset, share: float) -> xr.Dataset:
    end = dataset["end_time"] * share
    kept = dataset["recorded"] & (dataset[TIME] <= end)
    kept[{TIME: 0}] = True
    last = kept.values.argmin(axis=kept.get_axis_num(TIME))
    rows = np.where(kept.all(TIME), dataset.sizes[TIME], last) - 1
    index = xr.DataArray(rows, dims=SEED, coords={SEED: dataset[SEED]})
    changed: dict[str, xr.DataArray] = {"recorded": kept, "end_time": end}
    for name, array in dataset.data_vars.items():
        if array.dtype.kind != "f" or name in changed:
            continue
        if TIME in array.dims:
            changed[str(name)] = array.where(kept).transpose(*array.dims)
        elif str(name).endswith(schema.AT_END):
            changed[str(name)] = _value_at_cut(dataset, str(name), index)
    return dataset.assign(changed)


def _value_at_cut(dataset: xr.Dataset, name: str, index: xr.DataArray) -> xr.DataArray:
    """The values at the ends of stages in a cut run, from its last record."""
    at_end, source = dataset[name], name.removesuffix(schema.AT_END)
    if source not in dataset or TIME not in dataset[source].dims:
        return xr.full_like(at_end, np.nan)
    value = dataset[source].isel({TIME: index}).drop_vars(TIME)
    return value.broadcast_like(at_end).transpose(*at_end.dims)


def _mixed(dataset: xr.Dataset, mutated: xr.Dataset, fraction: float) -> xr.Dataset:
    """The mutated run in the first seeds, the other in the rest."""
    seeds = dataset.sizes[SEED]
    is_mutated = np.arange(seeds) < int(np.ceil(fraction * seeds - 1e-9))
    mask = xr.DataArray(is_mutated, dims=SEED, coords={SEED: dataset[SEED]})
    return dataset.assign(
        {
            name: xr.where(mask, mutated[name], array).transpose(*array.dims)
            for name, array in dataset.data_vars.items()
            if SEED in array.dims
        }
    )


def _reordered(array: xr.DataArray, dim: str, indices: np.ndarray) -> xr.DataArray:
    return array.copy(data=array.isel({dim: indices}).values)


def _delayed(values: np.ndarray, time: np.ndarray, by: float) -> np.ndarray:
    known = np.isfinite(values)
    if not known.any():
        return values.copy()
    moved = np.interp(time - by, time[known], values[known])
    return np.where(known, moved, values)


def _mapped(
    run: str, variables: Names, what: str, function: ArrayChange
) -> NamedMutation:
    names = variables if isinstance(variables, str) else ", ".join(variables)
    return mapped(f"{names} {what}", run, variables, function)
