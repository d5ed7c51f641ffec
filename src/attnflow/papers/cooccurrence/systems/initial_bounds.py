"""Appendices D and H: how often their bounds at initialisation are broken."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import xarray as xr

from attnflow.data import CooccurrenceTask
from attnflow.papers.cooccurrence.systems.initial_draws import (
    Sizes,
    Worst,
    worst_entries,
)
from attnflow.papers.cooccurrence.systems.lone_bounds import (
    count_failure,
    drawn_failures,
    norm_failure,
    product_failure,
    reach,
)
from attnflow.papers.cooccurrence.systems.model import task_of

Broken = Callable[[Worst, Sizes, float], Any]


def concentration(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """How often the printed bounds at initialisation are broken, two-sided.

    - `broken`: share of draws in which some entry breaks a bound of the lemma. D.7
      prints no constant: its proof's are taken. `D.5, mended` has the 2 of the normal
      tail, on both sides.
    - `attention_gap`: m · max |L p − 1| (Corollary D.2); `token_readout`:
      max |G| / (σ0 σ1 sqrt(m m1)) (D.7); `largest_output`: max |F| (D.8); each the
      mean over draws. `small_output`: share of draws with max |F| <= 0.01.
    - `norm_failure`, `product_failure`: exact failure probabilities of Lemma H.2;
      `norm_broken`, `product_broken`: over draws. `count_failure`: of D.6, exact.
    """
    task = task_of(setting, "distinct")
    rows = [
        [_at_width(setting, task, width, seed) for width in setting["widths"]]
        for seed in seeds
    ]
    dims = ("seed", "width")
    found: dict[str, Any] = {
        name: ((*dims, "lemma", "delta") if name == "broken" else dims, column)
        for name in rows[0][0]
        for column in [np.array([[cell[name] for cell in row] for row in rows])]
    }
    coords = {name: list(setting[f"{name}s"]) for name in ("width", "delta")}
    lemmas = xr.Dataset(found, {**coords, "lemma": list(LEMMAS)})
    return lemmas.merge(_lone(setting, seeds))


def _at_width(
    setting: dict[str, Any], task: CooccurrenceTask, width: int, seed: int
) -> dict[str, Any]:
    key_data, key_weights = jax.random.split(jax.random.key(seed))
    sizes = Sizes(width, setting["neurons"], task.embed, task.samples, task.length)
    position = task.sequences(key=key_data).key
    worst = worst_entries(
        sizes, position, setting["scale0"], draws=setting["draws"], key=key_weights
    )
    output = setting["scale0"] * setting["scale1"] * worst.output
    return {
        "broken": [
            [_share(is_broken(worst, sizes, delta)) for delta in setting["deltas"]]
            for is_broken in LEMMAS.values()
        ],
        "attention_gap": worst.attention.mean(),
        "token_readout": worst.readout.mean(),
        "largest_output": output.mean(),
        "small_output": _share(output <= 0.01),
    }


def _share(broken: Any) -> float:
    # JAX has the mean of truth values in float32.
    return float(np.asarray(broken).mean())


def _keys_queries(worst: Worst, sizes: Sizes, delta: float) -> Any:
    return worst.keys_queries > reach(sizes.width, 2 * sizes.embed / delta)


def _values_neurons(worst: Worst, sizes: Sizes, delta: float) -> Any:
    m, m1, d, _, _ = sizes
    return (
        (worst.values > reach(m, 2 * d / delta))
        | (worst.neurons > reach(m, 2 * m1**2 / delta))
        | (worst.neurons_values > reach(m, 2 * m1 * d / delta))
        | (worst.neuron_lengths > reach(m, 2 * m1 / delta))
    )


def _read_lengths(worst: Worst, sizes: Sizes, delta: float) -> Any:
    _, _, _, n, L = sizes
    return worst.read_length > reach(sizes.width, 2 * n * L / delta)


def _read_neurons(worst: Worst, sizes: Sizes, delta: float) -> Any:
    _, m1, _, n, L = sizes
    return worst.read_neuron > math.sqrt(math.log(m1 * n * L / delta))


def _read_neurons_mended(worst: Worst, sizes: Sizes, delta: float) -> Any:
    _, m1, _, n, L = sizes
    longest = 1 + reach(sizes.width, 2 * n * L / delta)
    return worst.read_neuron > math.sqrt(2 * longest * math.log(2 * m1 * n * L / delta))


def _readouts(worst: Worst, sizes: Sizes, delta: float) -> Any:
    # Given the values, G is normal; union over tokens, lengths by D.3.
    longest = 1 + reach(sizes.width, 2 * sizes.embed / delta)
    return worst.readout > math.sqrt(2 * longest * math.log(2 * sizes.embed / delta))


def _outputs(worst: Worst, sizes: Sizes, delta: float) -> Any:
    _, _, _, n, L = sizes
    return worst.output > 2 * math.sqrt(2 * math.log(2 * L * n / delta))


LEMMAS: dict[str, Broken] = {
    "D.1": _keys_queries,
    "D.3": _values_neurons,
    "D.4": _read_lengths,
    "D.5": _read_neurons,
    "D.5, mended": _read_neurons_mended,
    "D.7": _readouts,
    "D.8": _outputs,
}


def _lone(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Lemma H.2 and D.6: exact numbers, the same for every seed, and draws."""
    widths, deltas = setting["lone_widths"], setting["deltas"]
    dims = ("seed", "lone_width", "delta")
    exact = {
        name: [[[law(m, delta) for delta in deltas] for m in widths] for _ in seeds]
        for name, law in (
            ("norm_failure", norm_failure),
            ("product_failure", product_failure),
        )
    }
    draws = setting["lone_draws"]
    drawn = np.array(
        [
            [drawn_failures(m, deltas, draws, stream=[seed, m]) for m in widths]
            for seed in seeds
        ]
    )
    counts = [[count_failure(setting["neurons"], delta) for delta in deltas]]
    return xr.Dataset(
        {
            **{name: (dims, table) for name, table in exact.items()},
            "norm_broken": (dims, drawn[:, :, 0]),
            "product_broken": (dims, drawn[:, :, 1]),
            "count_failure": (("seed", "delta"), counts * len(seeds)),
        },
        {"lone_width": list(widths), "delta": list(deltas)},
    )
