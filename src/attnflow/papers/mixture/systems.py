"""What is special to `mixture`: closed forms, and computations that train nothing."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array

from attnflow.claims.statistics import linear_separable, relu_patterns
from attnflow.data import MixtureTask, Sequences
from attnflow.experiments import run
from attnflow.models.forms import AbstractFrame, Initial, build
from attnflow.models.forms.frames import basis_of, frame_of
from attnflow.models.forms.initial import draw_weights
from attnflow.models.problem import Linear, Problem, ReluPair
from attnflow.models.systems import Training
from attnflow.models.tables import Tables
from attnflow.observables import View, find
from attnflow.papers.mixture.experiments import simultaneous
from attnflow.papers.mixture.features import attention_features, feature_margin
from attnflow.papers.mixture.settings import Simultaneous


def constructions(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Margins and accuracies of Lemma 6.1's construction and of corrected ones.

    For every K and L = 2 … K + 1 over the exact population. NaN where L > K + 1.
    """
    names = ("groups", "sharpness", "biases")
    groups, sharpness, biases = (setting[name] for name in names)
    lengths = range(2, max(groups) + 2)
    shape = (len(groups), len(lengths), len(sharpness), len(biases))
    names = ("margin", "printed_positive", "printed_negative", "formula_error")
    found = {name: np.full(shape, np.nan) for name in names}
    found["exchanged_error"] = np.full(shape, np.nan)
    for (i, K), (j, L) in itertools.product(enumerate(groups), enumerate(lengths)):
        if K + 1 < L:
            continue
        data = MixtureTask(K, L).sequences()
        for k, C in enumerate(sharpness):
            heads = _construction_heads(data, K, C)
            for m, b in enumerate(biases):
                for name, number in _judge_construction(data, heads, L, C, b).items():
                    found[name][i, j, k, m] = number
    dims = ("seed", "K", "L", "sharpness", "bias")
    return xr.Dataset(
        {name: (dims, values[None]) for name, values in found.items()},
        {
            "K": list(groups),
            "L": list(lengths),
            "sharpness": list(sharpness),
            "bias": list(biases),
        },
    )


def _construction_heads(data: Sequences, K: int, C: float) -> dict[str, Array]:
    """What the heads give: scores as printed, corrected, and with heads exchanged."""
    eye, zero = np.eye(K), np.zeros((K, K))
    crossed = np.block([[zero, zero], [eye, zero]])  # key v_k, query c_k
    printed = C * np.stack([2 * crossed + np.eye(2 * K), np.eye(2 * K) - 2 * crossed])
    on_c, on_v = np.repeat([1.0, 0.0], K), np.repeat([0.0, 1.0], K)
    cases = {
        "printed": (printed, np.stack([on_v, -on_v])),
        "corrected": (np.stack([-C * crossed, C * crossed]), np.stack([on_c, on_c])),
        "exchanged": (printed[::-1], np.stack([on_c, on_c])),
    }
    frame = frame_of(data, basis_of(data))
    return {
        name: _head_outputs(frame, data, jnp.asarray(scores), jnp.asarray(values))
        for name, (scores, values) in cases.items()
    }


@jax.jit
def _head_outputs(
    frame: AbstractFrame, data: Sequences, scores: Array, values: Array
) -> Array:
    return Problem().head_outputs(frame.pairs(Tables(scores, values)), data)


@jax.jit
def _outputs(readout: ReluPair | Linear, heads: Array) -> Array:
    return readout(heads)


def _judge_construction(
    data: Sequences, heads: dict[str, Array], L: int, C: float, b: float
) -> dict[str, float]:
    label = np.asarray(data.label)
    pair = ReluPair(b)
    additive = label * np.asarray(_outputs(Linear(2), heads["printed"]))
    corrected = label * np.asarray(_outputs(pair, heads["corrected"]))
    exchanged = label * np.asarray(_outputs(pair, heads["exchanged"]))
    formula = 1 / (L - 1 + math.exp(-C)) - 1 / (L - 1 + math.exp(C))
    kept = _share(C, -2 * C, L) - _share(C, 2 * C, L)
    return {
        "margin": float(corrected.min()),
        "formula_error": float(np.abs(corrected - formula).max()),
        "exchanged_error": float(np.abs(exchanged - kept).max()),
        "printed_positive": float((additive[label > 0] > 0).mean()),
        "printed_negative": float((additive[label < 0] > 0).mean()),
    }


def _share(own: float, other: float, length: int) -> float:
    """`e^own / (e^own + e^other + L − 2)` without overflow."""
    return 1 / (1 + math.exp(other - own) + (length - 2) * math.exp(-own))


def separable_patterns(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """How many of the 256 patterns of the conflicting samples are separable.

    `tied`: the pattern must be the one that the weights themselves produce, which is
    Lemma 5.4; `untied`: features frozen by some other weights. A free bias per head is
    the more generous reading. `possible` patterns are those that some weights produce,
    and `untied_possible` the separable ones among them, by the features of eq. (2).
    """
    reads, label = _conflicting_reads()
    size = reads.shape[1] + int(setting["bias_free"])
    rows = np.zeros((len(reads), 2, 2 * size))
    features = np.pad(reads, ((0, 0), (0, size - reads.shape[1])), constant_values=1.0)
    rows[:, 0, :size] = rows[:, 1, size:] = features
    counts = {
        name: sum(
            p.separation.separable
            for p in relu_patterns(rows, label, np.array([1.0, -1.0]), tied=tied)
        )
        for name, tied in (("tied", True), ("untied", False))
    }
    counts["patterns"] = 2 ** (2 * len(reads))
    counts |= _possible_patterns(reads, label)
    return xr.Dataset({name: ("seed", [number]) for name, number in counts.items()})


def _conflicting_reads() -> tuple[np.ndarray, np.ndarray]:
    """What a head reads of the conflicting samples, and their labels.

    Under uniform attention L queries average L keys: a head reads the tokens' sum.
    """
    data = MixtureTask().sequences()
    conflicting = np.asarray(data.group) == data.group_names.index("conflicting")
    tokens = np.asarray(data.tokens)
    reads = tokens[np.asarray(data.key)].sum(axis=1)[conflicting]
    return reads, np.asarray(data.label)[conflicting]


def _possible_patterns(reads: np.ndarray, label: np.ndarray) -> dict[str, int]:
    """Patterns of one ReLU per head that some weights produce; separable ones of them.

    A head reads w · x + b; any w and b will do, since the samples' group tokens take
    up a shift of b.
    """
    with_bias = np.pad(reads, ((0, 0), (0, 1)), constant_values=1.0)
    single = [
        np.array(bits)
        for bits in itertools.product((False, True), repeat=len(reads))
        if linear_separable(np.where(bits, 1.0, -1.0)[:, None] * with_bias).separable
    ]
    both = np.stack([reads, reads], axis=1)
    separable = [
        linear_separable(
            label[:, None] * attention_features(both, np.stack(pair, axis=1), 0.5)
        ).separable
        for pair in itertools.product(single, repeat=2)
    ]
    return {"possible": len(separable), "untied_possible": sum(separable)}


def initial_margins(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Margins of the attention features at initialisation, where w = 0."""
    omegas, widths, bias = (setting[n] for n in ("omegas", "widths", "bias"))
    data = MixtureTask().sequences()
    cells = list(itertools.product(seeds, range(len(omegas)), range(len(widths))))
    grams = [_drawn_gram([s, i, j], omegas[i], widths[j]) for s, i, j in cells]
    reads = np.asarray(_initial_reads(*_initial_system(data), jnp.array(grams)))
    # With w = 0 every head's output is 0, and every ReLU is on.
    heads, label = np.zeros((len(data.label), 2)), np.asarray(data.label)
    margin = [feature_margin(read, heads, label, bias) for read in reads]
    shape = len(seeds), len(omegas), len(widths)
    return xr.Dataset(
        {"margin": (("seed", "omega", "width"), np.reshape(margin, shape))},
        {"omega": list(omegas), "width": list(widths)},
    )


def _drawn_gram(stream: list[int], omega: float, width: int) -> np.ndarray:
    """The initial Gram matrix of each head, `(2, 8, 8)`."""
    weights = np.random.default_rng(stream).standard_normal((2, width, 8))
    return omega**2 / width * weights.swapaxes(-1, -2) @ weights


def _initial_system(data: Sequences) -> tuple[Training, Any]:
    limit = Initial("infinite", 1.0)
    form, state = build("gram", data, limit, heads=2, key=jax.random.key(0))
    return Training(form, Problem(), data, data.probability, ("scores",)), state


@eqx.filter_jit
def _initial_reads(system: Training, state: Any, grams: Array) -> Array:
    """What heads read of each sample, `(cells, samples, heads, tokens)`."""

    def one(gram: Array) -> Array:
        view = View(system, {**state, "scores": gram})
        return find("pooled_token").compute(view)

    return jax.vmap(one)(grams)


def initial_products(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """How often Lemma G.1's bounds are broken, per pair and by any pair of a draw."""
    width, omega, delta = setting["width"], setting["omega"], setting["delta"]
    reach = 4 / width * math.log(8 / delta)
    bound = omega**2 * (math.sqrt(reach) + reach)
    upper = np.triu(np.ones((8, 8), bool))
    broken = [
        np.concatenate(
            [
                np.abs(_drawn_gram([seed, part], omega, width) - omega**2 * np.eye(8))
                > bound
                for part in range(-(-setting["draws"] // 2))
            ]
        )[: setting["draws"], upper]
        for seed in seeds
    ]
    return xr.Dataset(
        {
            "per_pair": ("seed", [found.mean() for found in broken]),
            "any_pair": ("seed", [found.any(axis=1).mean() for found in broken]),
            "bound": ("seed", np.full(len(seeds), bound)),
        }
    )


def conformances(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Largest differences from plain weights up to each time, of scores and values.

    `difference` is that of the reduced forms, `divergence` that of plain runs whose
    initial weights are one ulp apart.
    """
    forms = ("gram", "transport")
    differences, divergences = [], []
    for seed in seeds:
        weights = _plain_weights(setting, seed)
        plain = _course(setting, "weights", weights)
        twins = [
            _course(setting, "weights", _one_ulp(weights, twin))
            for twin in range(setting["twins"])
        ]
        others = [_course(setting, form, weights) for form in forms]
        differences.append([_apart(plain, other) for other in others])
        divergences.append(np.max([_apart(plain, twin) for twin in twins], axis=0))
    return xr.Dataset(
        {
            "difference": (("seed", "form", "record"), np.array(differences)),
            "divergence": (("seed", "record"), np.array(divergences)),
        },
        {"form": list(forms)},
    )


def _plain_weights(setting: dict[str, Any], seed: int) -> dict[str, np.ndarray]:
    initial = Initial(setting["width"], setting["omega"], draw="weights")
    weights = draw_weights(initial, 2, 4, key=jax.random.key(seed))
    return {name: np.asarray(array) for name, array in weights.items()}


def _one_ulp(weights: dict[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    return {
        name: np.nextafter(w, np.where(draw.random(w.shape) < 0.5, np.inf, -np.inf))
        for name, w in weights.items()
    }


def _course(setting: dict[str, Any], form: Any, weights: Any) -> np.ndarray:
    """Scores and values of a run, `(records, entries)`."""
    plan = Simultaneous(
        width=setting["width"],
        steps=setting["steps"],
        form=form,
        records=41,
        record=("score", "value"),
    )
    found = run(simultaneous(plan), weights=weights)
    parts = [found[name].values[0] for name in plan.record]
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def _apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The largest difference up to each record."""
    return np.maximum.accumulate(np.abs(one - other).max(axis=1))
