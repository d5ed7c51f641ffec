"""Statistics of runs that claims of `scansnap` share: scores, entropies, orders."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from attnflow import schema
from attnflow.claims import Evidence, Exact
from attnflow.claims import per_seed as per_seed
from attnflow.papers.scansnap._types import Setting
from attnflow.papers.scansnap.stages.formulas import classes_of
from attnflow.schema.dims import CLASS, SEED, TIME

COMMON = "common0"
TOP = "distinct9@0"
"""The most frequent distinct token of the first class."""


def course(run: xr.Dataset, token: str) -> np.ndarray:
    """A token's score with the first query, at all records of the first seed."""
    scores = run["score"].isel({SEED: 0, "query": 0})
    return scores.sel(token=token).values


def end(run: xr.Dataset, token: str) -> float:
    """A token's score at the last record."""
    return float(course(run, token)[-1])


def entropy(run: xr.Dataset) -> float:
    """H(DT), the mean entropy among distinct tokens, at the last record."""
    return float(run["mean_distinct_entropy"].isel({SEED: 0, TIME: -1}))


def units(run: xr.Dataset) -> float:
    """K/η_Y of a run."""
    setting = schema.setting_of(run)
    return classes_of(setting) / setting["value_rate"]


def part(evidence: Evidence, letter: str) -> Mapping[float, xr.Dataset]:
    """The runs of one system by the number that their names end with."""
    names = [name for name in evidence if name.startswith(f"{letter}, ")]
    plain = [name for name in names if name.count(", ") == 1]
    return {float(name.split(", ")[1]): evidence[name] for name in plain}


def rising(values: ArrayLike, label: str, *, refutes: bool = False) -> Exact:
    """Check that values strictly rise; with `refutes`, failing is a counterexample."""
    steps = np.diff(values)
    wrong = float((~(steps > 0)).sum())
    return Exact(
        wrong, 0.0, f"{label}: steps of {steps.size} that do not rise", refutes
    )


def falling(values: ArrayLike, label: str, *, refutes: bool = False) -> Exact:
    """Check that values strictly fall; `refutes` as in `rising`."""
    steps = np.diff(values)
    wrong = float((~(steps < 0)).sum())
    return Exact(
        wrong, 0.0, f"{label}: steps of {steps.size} that do not fall", refutes
    )


def favourites(run: xr.Dataset, time: int) -> np.ndarray:
    """Index of the most attended distinct token at a record, by seed and class."""
    attention = run["attention_per_class"].isel({TIME: time})
    names = [str(t) for t in attention["token"].values if str(t).startswith("distinct")]
    by_class = []
    for n in range(attention.sizes[CLASS]):
        tokens = [token for token in names if token.endswith(f"@{n}")]
        shares = attention.isel({CLASS: n}).sel(token=tokens)
        by_class.append(shares.transpose(SEED, "token").values.argmax(axis=1))
    return np.array(by_class).T


def scale_of(setting: Setting, terms: int) -> float:
    """C₀ = ρ₀⁴/`terms`, where ρ₀² is the sum of a class's squared weights."""
    square = setting["common"] + float(np.square(setting["distinct"]).sum())
    return square**2 / terms
