"""Runs on real text that figures and claims share, and what is read off them."""

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.papers.scansnap.claims.evidence import FEW, ONE
from attnflow.papers.scansnap.deep_settings import MAPS
from attnflow.schema.declarations import Evidence, Request
from attnflow.schema.dims import SEED, TIME

RATES = (0.5, 1.0, 2.0, 5.0)
OWN_RATE = RATES[-1]
"""That of the paper's Figure 7."""
STEPS = 1200
_SMALL = {"vocabulary": 100, "length": 16, "batch": 6, "test_samples": 10}
QUICK = {
    # Narrower, three layers do not become sparse.
    "wikitext": {**_SMALL, "embed": 128, "hidden": 32, "steps": 60, "records": 3},
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
"""Experiment, layers and seeds of each."""
SETTLED = 10
"""Places from which entropies are counted; before, there are few words to attend to."""
FREQUENT = 20
"""Words that are counted as frequent: a third of the text."""


def name_of(kind: str, rate: float) -> str:
    """The name of a run among the evidence."""
    return f"{kind}, η = {rate:g}"


def by_rate(*kinds: str) -> dict[str, Request]:
    """The runs of some networks at all rates, by their names."""
    wanted = {name_of(kind, rate): (kind, rate) for kind in kinds for rate in RATES}
    return {name: _at(kind, rate) for name, (kind, rate) in wanted.items()}


def _at(kind: str, rate: float) -> Request:
    experiment, layers, seeds = KINDS[kind]
    sizes = {"layers": layers, "learning_rate": rate, "steps": STEPS, "records": 8}
    sizes |= {"record": MAPS}
    return Request(experiment, sizes, seeds=seeds, quick=QUICK[experiment])


COURSES = {kind: _at(kind, OWN_RATE) for kind in (ONE_LAYER, OF_THREE)}
"""Attention maps along training at the paper's own rate."""
LONG = {
    PLAIN: Request(
        "wikitext-plain",
        {"learning_rate": 2.0, "steps": 4800, "records": 16, "record": MAPS},
        seeds=FEW,
        quick=QUICK["wikitext-plain"],
    )
}
"""The theory's parametrisation at a rate that is stable, for four times as long."""


def entropy(run: xr.Dataset, layer: str = "1") -> xr.DataArray:
    """Mean entropy of a layer's attention on test windows, by seed and time."""
    found = run["attention_entropy_by_query"].sel(layer=layer)
    return found.isel(query_position=slice(SETTLED, None)).mean("query_position")


def share_of_uniform(run: xr.Dataset) -> xr.DataArray:
    """The first layer's entropy over that of attention to all words alike."""
    return entropy(run) / uniform_entropy(run)


def last_entropies(evidence: Evidence, kind: str) -> np.ndarray:
    """Entropies of the first layer when training ended, by rate and seed."""
    return np.array(
        [
            entropy(evidence[name_of(kind, rate)]).isel({TIME: -1}).values
            for rate in RATES
        ]
    )


def drift(run: xr.Dataset, layer: str = "1") -> xr.DataArray:
    """Total variation of a layer's attention from each record to the next.

    Half the sum of |changes| over keys, in the mean over windows, heads and queries.
    """
    maps = run["test_attention"].sel(layer=layer)
    maps = maps.isel(query_position=slice(SETTLED, None))
    moved = abs(maps.diff(TIME)).sum("key_position") / 2
    return moved.mean([d for d in moved.dims if d not in (SEED, TIME)])


def on_frequent(run: xr.Dataset, layer: str = "1") -> xr.DataArray:
    """Attention to the most frequent words, over what they got before training."""
    # The first word stands for all that are rare.
    frequent = run["attention_by_word"].isel(word=slice(1, FREQUENT + 1))
    paid = frequent.sel(layer=layer).sum("word")
    return paid / paid.isel({TIME: 0}, drop=True)


def uniform_entropy(run: xr.Dataset) -> float:
    """The entropy where all words that may be attended to get alike."""
    setting = schema.setting_of(run)
    own = 1 if setting["parametrisation"] == "encoder" else 0
    places = np.arange(SETTLED, setting["length"])
    return float(np.log(places + own).mean())
