"""Failure rates of the bounds at initialisation (Appendices D and H)."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Array, Bool

from attnflow.data import CooccurrenceTask, random
from attnflow.papers.cooccurrence.computations import Concentration
from attnflow.papers.cooccurrence.settings import Fields
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
from attnflow.papers.cooccurrence.systems.model import distinct_task

BrokenDraws = Bool[Array | np.ndarray, "*draws"]
Broken = Callable[[Worst, Sizes, float], BrokenDraws]
"""Whether a draw breaks some bound of a lemma, by its worst entries, sizes and δ."""


def concentration(setting: Fields, seeds: Sequence[int]) -> xr.Dataset:
    """Failure rates of the printed bounds at initialisation, two-sided.

    - `broken`: fraction of draws in which some entry violates a bound of the lemma.
      D.7 prints no constant: those of its proof are used. `D.5, mended` has the 2 of
      the normal tail, on both sides.
    - `attention_gap`: m · max |L p − 1| (Corollary D.2); `token_readout`:
      max |G| / (σ0 σ1 sqrt(m m1)) (D.7); `largest_output`: max |F| (D.8); each the
      mean over draws. `small_output`: fraction of draws with max |F| <= 0.01.
    - `length_readout`, `cross_readout`: as in `Worst` (Proposition E.22), the mean too.
    - `norm_failure`, `product_failure`: exact failure probabilities of Lemma H.2;
      `norm_broken`, `product_broken`: over draws. `count_failure`: of D.6, exact.
    """
    plan = Concentration(**setting)
    task = distinct_task(plan.samples, plan.length)
    rows = [
        [_at_width(plan, task, width, seed) for width in plan.widths] for seed in seeds
    ]
    dims = ("seed", "width")
    variables = {
        name: ((*dims, "lemma", "delta") if name == "broken" else dims, column)
        for name in rows[0][0]
        for column in [np.array([[cell[name] for cell in row] for row in rows])]
    }
    coords = {"width": list(plan.widths), "delta": list(plan.deltas)}
    lemmas = xr.Dataset(variables, {**coords, "lemma": list(LEMMAS)})
    return lemmas.merge(_lone(plan, seeds))


def _at_width(
    setting: Concentration, task: CooccurrenceTask, width: int, seed: int
) -> dict[str, float | list[list[float]]]:
    key_data, key_weights = random.split(random.key(seed))
    sizes = Sizes(width, setting.neurons, task.embed, task.samples, task.length)
    position = task.sequences(key=key_data).key
    worst = worst_entries(
        sizes, position, setting.scale0, draws=setting.draws, key=key_weights
    )
    output = setting.scale0 * setting.scale1 * worst.output
    return {
        "broken": [
            [_share(is_broken(worst, sizes, delta)) for delta in setting.deltas]
            for is_broken in LEMMAS.values()
        ],
        "attention_gap": float(worst.attention.mean()),
        "token_readout": float(worst.readout.mean()),
        "largest_output": float(output.mean()),
        "small_output": _share(output <= 0.01),
        "length_readout": float(worst.length_readout.mean()),
        "cross_readout": float(worst.cross_readout.mean()),
    }


def _share(broken: BrokenDraws) -> float:
    return float(np.asarray(broken).mean())


def _keys_queries(worst: Worst, sizes: Sizes, delta: float) -> BrokenDraws:
    return worst.keys_queries > reach(sizes.width, 2 * sizes.embed / delta)


def _values_neurons(worst: Worst, sizes: Sizes, delta: float) -> BrokenDraws:
    m, m1, d, _, _ = sizes
    return (
        (worst.values > reach(m, 2 * d / delta))
        | (worst.neurons > reach(m, 2 * m1**2 / delta))
        | (worst.neurons_values > reach(m, 2 * m1 * d / delta))
        | (worst.neuron_lengths > reach(m, 2 * m1 / delta))
    )


def _read_lengths(worst: Worst, sizes: Sizes, delta: float) -> BrokenDraws:
    _, _, _, n, L = sizes
    return worst.read_length > reach(sizes.width, 2 * n * L / delta)


def _read_neurons(worst: Worst, sizes: Sizes, delta: float) -> BrokenDraws:
    _, m1, _, n, L = sizes
    return worst.read_neuron > math.sqrt(math.log(m1 * n * L / delta))


def _read_neurons_mended(worst: Worst, sizes: Sizes, delta: float) -> BrokenDraws:
    _, m1, _, n, L = sizes
    longest = 1 + reach(sizes.width, 2 * n * L / delta)
    return worst.read_neuron > math.sqrt(2 * longest * math.log(2 * m1 * n * L / delta))


def _readouts(worst: Worst, sizes: Sizes, delta: float) -> BrokenDraws:
    # Given the values, G is normal; union over tokens, lengths by D.3.
    longest = 1 + reach(sizes.width, 2 * sizes.embed / delta)
    return worst.readout > math.sqrt(2 * longest * math.log(2 * sizes.embed / delta))


def _outputs(worst: Worst, sizes: Sizes, delta: float) -> BrokenDraws:
    _, _, _, n, L = sizes
    return worst.output > 2 * math.sqrt(2 * math.log(2 * L * n / delta))


def _other_neurons(worst: Worst, sizes: Sizes, delta: float) -> BrokenDraws:
    m, m1, _, _, _ = sizes
    bound = reach(m, 2 * m1**2 / delta) * math.sqrt(m1 * math.log(4 * m1 / delta))
    return worst.other_neurons > bound


LEMMAS: dict[str, Broken] = {
    "D.1": _keys_queries,
    "D.3": _values_neurons,
    "D.4": _read_lengths,
    "D.5": _read_neurons,
    "D.5, mended": _read_neurons_mended,
    "D.7": _readouts,
    "D.8": _outputs,
    "E.5": _other_neurons,
}


def _lone(setting: Concentration, seeds: Sequence[int]) -> xr.Dataset:
    """Failure rates of Lemmas H.2 and D.6: exact, and of H.2 over draws too."""
    widths, deltas = setting.lone_widths, setting.deltas
    dims = ("seed", "lone_width", "delta")
    exact = {
        name: [[[law(m, delta) for delta in deltas] for m in widths] for _ in seeds]
        for name, law in (
            ("norm_failure", norm_failure),
            ("product_failure", product_failure),
        )
    }
    draws = setting.lone_draws
    shares = np.array(
        [
            [drawn_failures(m, deltas, draws, stream=[seed, m]) for m in widths]
            for seed in seeds
        ]
    )
    counts = [[count_failure(setting.neurons, delta) for delta in deltas]]
    return xr.Dataset(
        {
            **{name: (dims, table) for name, table in exact.items()},
            "norm_broken": (dims, shares[:, :, 0]),
            "product_broken": (dims, shares[:, :, 1]),
            "count_failure": (("seed", "delta"), counts * len(seeds)),
        },
        {"lone_width": list(widths), "delta": list(deltas)},
    )
