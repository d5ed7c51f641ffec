"""Reduced forms against plain weights along the paper's experiment."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import xarray as xr

from attnflow.experiments import run
from attnflow.papers.cooccurrence.computations import Conformance
from attnflow.papers.cooccurrence.experiments import train
from attnflow.papers.cooccurrence.settings import Fields, FormName, Train
from attnflow.papers.cooccurrence.systems.initial_weights import Weights, weights_of

TABLES = ("score", "value")
NEURONS = ("neuron_value", "neuron_gram_change")
QUANTITIES = (*TABLES, *NEURONS)
Way = FormName | Literal["followed"]
FORMS: dict[Way, tuple[str, ...]] = {
    "gram": TABLES,
    "transport": TABLES,
    "followed": QUANTITIES,
}
"""Quantities of each form; `followed` is transport with every neuron tracked."""
Course = dict[str, np.ndarray]


def conformance(setting: Fields, seeds: Sequence[int]) -> xr.Dataset:
    """Largest differences of an entry from plain weights up to each record.

    `difference` is that of the reduced forms (NaN where a form does not have the
    quantity), `divergence` that of runs with plain weights that start one ulp apart;
    `size` is the largest entry of the run with plain weights.
    """
    by_seed = [_of_seed(Conformance(**setting), seed) for seed in seeds]
    dims = ("quantity", "record")
    dims_by_name = {"difference": ("form", *dims), "divergence": dims, "size": dims}
    return xr.Dataset(
        {
            name: (("seed", *inner), np.stack([numbers[name] for numbers in by_seed]))
            for name, inner in dims_by_name.items()
        },
        {"form": list(FORMS), "quantity": list(QUANTITIES)},
    )


def _of_seed(setting: Conformance, seed: int) -> dict[str, np.ndarray]:
    plan = _plan(setting)
    weights = weights_of(plan, seed)
    plain = _course(plan, "weights", weights, seed)
    twins = [
        _largest_difference(
            plain, _course(plan, "weights", one_ulp(weights, twin), seed)
        )
        for twin in range(setting.twins)
    ]
    differences = [
        _largest_difference(plain, _course(plan, form, weights, seed)) for form in FORMS
    ]
    nothing = {name: np.zeros_like(part) for name, part in plain.items()}
    return {
        "difference": np.stack(differences),
        "divergence": np.max(twins, axis=0),
        "size": _largest_difference(plain, nothing),
    }


def _plan(setting: Conformance) -> Train:
    return Train(
        width=setting.width,
        neurons=setting.neurons,
        learning_rate=setting.learning_rate,
        steps=setting.steps,
        records=setting.records,
        show="all",
    )


def _course(plan: Train, form: Way, weights: Weights, seed: int) -> Course:
    """Records of a run by a form, each quantity as `(records, entries)`."""
    quantities = FORMS.get(form, QUANTITIES)
    follow = form == "followed"
    setting = replace(
        plan, form="transport" if follow else form, follow=follow, record=quantities
    )
    recorded = run(train(setting), seeds=(seed,), weights=weights)
    rows = {name: recorded[name].values[0] for name in quantities}
    return {name: row.reshape(len(row), -1) for name, row in rows.items()}


def one_ulp(weights: Weights, seed: int) -> Weights:
    """Weights moved to a neighbouring float, up or down at random."""
    draw = np.random.default_rng(seed)
    return {
        name: np.nextafter(w, np.where(draw.random(w.shape) < 0.5, np.inf, -np.inf))
        for name, w in weights.items()
    }


def _largest_difference(ours: Course, theirs: Course) -> np.ndarray:
    """Largest difference of an entry up to each record, `(quantities, records)`."""
    unknown = np.full(len(ours["score"]), np.nan)
    rows = [
        np.abs(ours[name] - theirs[name]).max(axis=1) if name in theirs else unknown
        for name in QUANTITIES
    ]
    return np.maximum.accumulate(np.stack(rows), axis=1)
