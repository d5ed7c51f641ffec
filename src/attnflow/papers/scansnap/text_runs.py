"""Runs on real text that figures and claims share, and what is read off them."""

import numpy as np
import xarray as xr

from attnflow import _dims, schema
from attnflow.paper import Evidence, Request
from attnflow.papers.scansnap.claims.evidence import FEW, ONE
from attnflow.papers.scansnap.deep_settings import MAPS

RATES = (0.5, 1.0, 2.0, 5.0)
STEPS = 1200
QUICK = {"steps": 200, "records": 4}
KINDS = {
    "encoder, one layer": ("wikitext", 1, FEW),
    "encoder, first of three layers": ("wikitext", 3, ONE),
    "theory's parametrisation": ("wikitext-plain", 1, FEW),
}
"""Experiment, layers and seeds of each."""
SETTLED = 10
"""Places from which entropies are counted; before, there are few words to attend to."""


def name_of(kind: str, rate: float) -> str:
    """The name of a run among the evidence."""
    return f"{kind}, η = {rate:g}"


BY_RATE = {
    name_of(kind, rate): Request(
        experiment,
        {"layers": layers, "learning_rate": rate, "steps": STEPS, "records": 8},
        seeds=seeds,
        quick=QUICK,
    )
    for kind, (experiment, layers, seeds) in KINDS.items()
    for rate in RATES
}
COURSES = {
    f"{layers} layer{'s' * (layers > 1)}": Request(
        "wikitext",
        {"layers": layers, "steps": STEPS, "records": 8, "record": MAPS},
        seeds=ONE,
        quick=QUICK,
    )
    for layers in (1, 3)
}
"""Attention maps along training at the paper's own rate."""


def entropy(run: xr.Dataset, layer: str = "1") -> xr.DataArray:
    """Mean entropy of a layer's attention on test windows, by seed and time."""
    found = run["attention_entropy_by_query"].sel(layer=layer)
    return found.isel(query_position=slice(SETTLED, None)).mean("query_position")


def last_entropies(evidence: Evidence, kind: str) -> np.ndarray:
    """Entropies of the first layer when training ended, by rate and seed."""
    return np.array(
        [
            entropy(evidence[name_of(kind, rate)]).isel({_dims.TIME: -1}).values
            for rate in RATES
        ]
    )


def drift(run: xr.Dataset, layer: str = "1") -> xr.DataArray:
    """Total variation of a layer's attention from each record to the next.

    Half the sum of |changes| over keys, in the mean over windows, heads and queries.
    """
    maps = run["test_attention"].sel(layer=layer)
    maps = maps.isel(query_position=slice(SETTLED, None))
    moved = abs(maps.diff(_dims.TIME)).sum("key_position") / 2
    return moved.mean([d for d in moved.dims if d not in (_dims.SEED, _dims.TIME)])


def uniform_entropy(run: xr.Dataset) -> float:
    """The same entropy where all words that may be attended to get alike."""
    setting = schema.setting_of(run)
    own = 1 if setting["parametrisation"] == "encoder" else 0
    places = np.arange(SETTLED, setting["length"])
    return float(np.log(places + own).mean())
