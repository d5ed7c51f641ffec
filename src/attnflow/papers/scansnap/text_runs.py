"""Runs on WikiText-2 that figures and claims share, and their statistics."""

from __future__ import annotations

import numpy as np

from attnflow import schema
from attnflow.papers.scansnap.deep_settings import MAPS
from attnflow.papers.scansnap.seeds import FEW, ONE
from attnflow.schema.declarations import Request
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

RATES = (0.5, 1.0, 2.0, 5.0)
OWN_RATE = RATES[-1]
"""Learning rate of the paper's Figure 7."""
STEPS = 1200
_SMALL = {"vocabulary": 100, "length": 16, "batch": 6, "test_samples": 10}
QUICK = {
    # Narrower, three layers do not become sparse.
    "wikitext": {**_SMALL, "embed": 128, "hidden": 32, "steps": 60, "records": 3},
    "wikitext-notebook": {**_SMALL, "embed": 128, "hidden": 32, "steps": 60},
    "wikitext-plain": {**_SMALL, "embed": 32, "steps": 600, "records": 6},
}
"""Settings of smaller runs, by experiment."""

ONE_LAYER = "encoder, one layer"
OF_THREE = "encoder, first of three layers"
PLAIN = "theory's parametrisation"
KINDS = {
    ONE_LAYER: ("wikitext", 1, FEW),
    OF_THREE: ("wikitext", 3, ONE),
    PLAIN: ("wikitext-plain", 1, FEW),
}
"""Experiment, number of layers and seeds, by network."""
SETTLED = 10
"""First query position that counts for entropies; earlier ones have few keys."""
FREQUENT = 20
"""Number of words that count as frequent: a third of the text."""


def name_of(kind: str, rate: float) -> str:
    """Name of a run in the evidence."""
    return f"{kind}, η = {rate:g}"


def by_rate(*kinds: str) -> dict[str, Request]:
    """Requests for networks at all rates, by name."""
    pairs = {name_of(kind, rate): (kind, rate) for kind in kinds for rate in RATES}
    return {name: _at(kind, rate) for name, (kind, rate) in pairs.items()}


def _at(kind: str, rate: float) -> Request:
    experiment, layers, seeds = KINDS[kind]
    sizes = {"layers": layers, "learning_rate": rate, "steps": STEPS, "records": 8}
    sizes |= {"record": MAPS}
    return Request(experiment, sizes, seeds=seeds, quick=QUICK[experiment])


COURSES = {
    kind: Request(
        "wikitext-notebook", {"layers": layers}, seeds, QUICK["wikitext-notebook"]
    )
    for kind, layers, seeds in ((ONE_LAYER, 1, FEW[:3]), (OF_THREE, 3, ONE))
}
"""Requests for attention maps along training, as in the authors' notebook."""
MOMENTS = (0.0, 1 / 3, 2 / 3, 1.0)
"""Shares of training at which maps are shown: steps 0, 500, 1000 and 1500 of them."""
LONG = {
    PLAIN: Request(
        "wikitext-plain",
        {"learning_rate": 2.0, "steps": 4800, "records": 16, "record": MAPS},
        seeds=FEW,
        quick=QUICK["wikitext-plain"],
    )
}
"""Request for the theory's parametrisation at a stable rate, four times as long."""


def entropy(run: xr.Dataset, layer: str = "1") -> xr.DataArray:
    """Mean entropy of a layer's attention on test windows, by seed and time."""
    entropies = run["attention_entropy_by_query"].sel(layer=layer)
    settled = entropies.isel(query_position=slice(SETTLED, None))
    return settled.mean("query_position", skipna=False)


def share_of_uniform(run: xr.Dataset) -> xr.DataArray:
    """The first layer's entropy over that of uniform attention."""
    return entropy(run) / uniform_entropy(run)


def maps_of(run: xr.Dataset, layer: str = "1") -> xr.DataArray:
    """A layer's attention: on shown training windows, or on test windows."""
    name = "shown_attention" if "shown_attention" in run else "test_attention"
    return run[name].sel(layer=layer)


def moment(run: xr.Dataset, share: float) -> int:
    """The number of the record at a share of training."""
    return round(share * (run.sizes[TIME] - 1))


def late_drift(run: xr.Dataset) -> xr.DataArray:
    """Total variation of the first layer's attention over the last third of training.

    That is from step 1000 to step 1500, the last two maps of Figure 7.
    """
    return drift(run.isel({TIME: [moment(run, MOMENTS[2]), -1]})).isel({TIME: 0})


def drift(run: xr.Dataset, layer: str = "1") -> xr.DataArray:
    """Total variation of a layer's attention from each record to the next.

    Half the sum of |changes| over keys, in the mean over windows, heads and queries.
    """
    maps = maps_of(run, layer).isel(query_position=slice(SETTLED, None))
    changes = abs(maps.diff(TIME)).sum("key_position", skipna=False) / 2
    dims = [d for d in changes.dims if d not in (SEED, TIME)]
    return changes.mean(dims, skipna=False)


def on_frequent(run: xr.Dataset, layer: str = "1") -> xr.DataArray:
    """Attention to the most frequent words, relative to that before training."""
    # The first word stands for all that are rare.
    frequent = run["attention_by_word"].isel(word=slice(1, FREQUENT + 1))
    attention = frequent.sel(layer=layer).sum("word", skipna=False)
    return attention / attention.isel({TIME: 0}, drop=True)


def uniform_entropy(run: xr.Dataset) -> float:
    """Entropy of uniform attention over the words that are not masked."""
    setting = schema.setting_of(run)
    itself = 1 if setting["parametrisation"] == "encoder" else 0
    positions = np.arange(SETTLED, setting["length"])
    return float(np.log(positions + itself).mean())
