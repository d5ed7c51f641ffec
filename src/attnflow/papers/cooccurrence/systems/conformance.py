"""Reduced forms beside plain weights along the paper's own run."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from attnflow.experiments import run
from attnflow.papers.cooccurrence.experiments import train
from attnflow.papers.cooccurrence.settings import Train
from attnflow.papers.cooccurrence.systems.given import Weights, weights_of

TABLES = ("score", "value")
NEURONS = ("neuron_value", "neuron_gram_change")
QUANTITIES = (*TABLES, *NEURONS)
FORMS = {"gram": TABLES, "transport": TABLES, "followed": QUANTITIES}
"""What each way of running knows; `followed` is transport with every neuron's row."""
Course = dict[str, np.ndarray]


def conformance(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Largest differences of an entry from plain weights up to each record.

    `difference` is that of the reduced forms (NaN where a form does not know the
    quantity), `divergence` that of plain runs whose initial weights are one ulp apart;
    `size` is the largest entry of the plain run.
    """
    found = [_of_seed(setting, seed) for seed in seeds]
    dims = ("quantity", "record")
    every = {"difference": ("form", *dims), "divergence": dims, "size": dims}
    return xr.Dataset(
        {
            name: (("seed", *own), np.stack([one[name] for one in found]))
            for name, own in every.items()
        },
        {"form": list(FORMS), "quantity": list(QUANTITIES)},
    )


def _of_seed(setting: dict[str, Any], seed: int) -> dict[str, np.ndarray]:
    plan = _plan(setting)
    weights = weights_of(plan, seed)
    plain = _course(plan, "weights", weights, seed)
    twins = [
        _apart(plain, _course(plan, "weights", one_ulp(weights, twin), seed))
        for twin in range(setting["twins"])
    ]
    others = [_apart(plain, _course(plan, form, weights, seed)) for form in FORMS]
    nothing = {name: np.zeros_like(part) for name, part in plain.items()}
    return {
        "difference": np.stack(others),
        "divergence": np.max(twins, axis=0),
        "size": _apart(plain, nothing),
    }


def _plan(setting: dict[str, Any]) -> Train:
    names = ("width", "neurons", "learning_rate", "steps", "records")
    return Train(**{name: setting[name] for name in names}, show="all")


def _course(plan: Train, form: Any, weights: Weights, seed: int) -> Course:
    """What a way of running records, each quantity as `(records, entries)`."""
    known = FORMS.get(form, QUANTITIES)
    follow = form == "followed"
    way = replace(
        plan, form="transport" if follow else form, follow=follow, record=known
    )
    found = run(train(way), seeds=(seed,), weights=weights)
    rows = {name: found[name].values[0] for name in known}
    return {name: row.reshape(len(row), -1) for name, row in rows.items()}


def one_ulp(weights: Weights, seed: int) -> Weights:
    """Every weight moved to a neighbouring number, up or down at random."""
    draw = np.random.default_rng(seed)
    return {
        name: np.nextafter(w, np.where(draw.random(w.shape) < 0.5, np.inf, -np.inf))
        for name, w in weights.items()
    }


def _apart(one: Course, other: Course) -> np.ndarray:
    """`(quantities, records)`: the largest difference of an entry so far."""
    unknown = np.full(len(one["score"]), np.nan)
    rows = [
        np.abs(one[name] - other[name]).max(axis=1) if name in other else unknown
        for name in QUANTITIES
    ]
    return np.maximum.accumulate(np.stack(rows), axis=1)
