"""Spectra that gradient flow conserves, along the paper's experiment.

Conserved are all eigenvalues of K P: with K = diag(I, −I) and P the Gram matrix of keys
and queries; with K = diag(I, −1) and P that of values and of β / |a|, β = Wᵀ a.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from attnflow.experiments import run
from attnflow.papers.cooccurrence.computations import Conservation
from attnflow.papers.cooccurrence.experiments import train
from attnflow.papers.cooccurrence.settings import Fields, Train
from attnflow.papers.cooccurrence.systems.initial_weights import Weights, weights_of

PARTS = ("keys and queries", "values")
RECORDED = (
    "score",
    "key_self_score",
    "query_self_score",
    "value",
    "value_self_score",
    "readout_gain",
)


def conservation(setting: Fields, seeds: Sequence[int]) -> xr.Dataset:
    """Largest drift of an eigenvalue by each record, over the largest initial one.

    `flow_drift` of gradient flow, `descent_drift` of descent by learning rate;
    `gram_drift` is that of P itself along the flow, which is not conserved.
    """
    by_seed = [_of_seed(Conservation(**setting), seed) for seed in seeds]
    dims = ("part", "record")
    dims_by_name = {
        "flow_drift": dims,
        "descent_drift": ("learning_rate", *dims),
        "gram_drift": dims,
    }
    return xr.Dataset(
        {
            name: (("seed", *inner), np.stack([drifts[name] for drifts in by_seed]))
            for name, inner in dims_by_name.items()
        },
        {"part": list(PARTS), "learning_rate": list(setting["learning_rates"])},
    )


def _of_seed(setting: Conservation, seed: int) -> dict[str, np.ndarray]:
    time, rates = setting.time, setting.learning_rates
    plan = Train(
        width=setting.width,
        neurons=setting.neurons,
        records=setting.records,
        rtol=setting.rtol,
        record=RECORDED,
        show="all",
    )
    weights = weights_of(plan, seed)
    flow = replace(plan, rule="flow", steps=time)
    steps = [
        replace(plan, learning_rate=rate, steps=float(round(time / rate)))
        for rate in rates
    ]
    flow_grams = _grams(flow, weights, seed)
    return {
        "flow_drift": _drifts(flow_grams),
        "descent_drift": np.stack([_drifts(_grams(s, weights, seed)) for s in steps]),
        "gram_drift": np.stack([spectrum_drift(g, g.shape[-1]) for g in flow_grams]),
    }


def _grams(plan: Train, weights: Weights, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gram matrices P of both parts at every record."""
    recorded = run(train(plan), seeds=(seed,), weights=weights).isel(seed=0, head=0)
    rows = {name: _with_end(recorded, name) for name in RECORDED}
    names = ("key_self_score", "score", "query_self_score")
    attention = _blocks(*(rows[name] for name in names))
    size = np.linalg.norm(weights["a"])
    values = _blocks(
        rows["value_self_score"],
        rows["value"][..., None] / size,
        rows["readout_gain"][:, None, None] / size**2,
    )
    return attention, values


def _with_end(recorded: xr.Dataset, name: str) -> np.ndarray:
    """Records of a run of one seed, the last one replaced by the final value.

    The end of a flow is known to rounding, and may miss the last record.
    """
    return np.concatenate(
        [recorded[name].values[:-1], recorded[f"{name}_at_end"].values]
    )


def _blocks(first: np.ndarray, cross: np.ndarray, last: np.ndarray) -> np.ndarray:
    return np.block([[first, cross], [cross.swapaxes(-1, -2), last]])


def _drifts(grams: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    attention, values = grams
    tokens = values.shape[-1] - 1
    return np.stack([spectrum_drift(gram, tokens) for gram in (attention, values)])


def spectrum_drift(gram: np.ndarray, positive: int) -> np.ndarray:
    """Drift of the eigenvalues of K P, K with `positive` entries +1 and then −1.

    They are those of P^½ K P^½, which is symmetric: known to a few ulps of P.
    """
    values, vectors = np.linalg.eigh(gram)
    half = np.sqrt(np.clip(values, 0.0, None))[..., None, :] * vectors
    root = half @ vectors.swapaxes(-1, -2)
    signs = np.where(np.arange(gram.shape[-1]) < positive, 1.0, -1.0)
    spectrum = np.linalg.eigvalsh(root @ (signs[:, None] * root))
    return np.abs(spectrum - spectrum[0]).max(axis=-1) / np.abs(spectrum[0]).max()
