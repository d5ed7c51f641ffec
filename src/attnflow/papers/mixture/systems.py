"""Computations of `mixture` without training: Lemmas 5.4, 6.1, G.1, initial margins."""

import itertools
import math
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array

from attnflow.claims.statistics import linear_separable, relu_patterns
from attnflow.data import MixtureTask, Sequences, random
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
from attnflow.papers.mixture.settings import FormName, Setting, Simultaneous
from attnflow.training.programs import Effort, Program, put

State = dict[str, Array]
"""The state of a reduced form: its arrays by part."""
Weights = dict[str, np.ndarray]
"""`W_K`, `W_Q` and `w` of both heads."""


def constructions(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Margins and accuracies of Lemma 6.1's construction and of corrected ones.

    For every K and L = 2 … K + 1, over the exact population; NaN where L > K + 1.
    """
    names = ("groups", "sharpness", "biases")
    groups, sharpness, biases = (setting[name] for name in names)
    lengths = range(2, max(groups) + 2)
    shape = (len(groups), len(lengths), len(sharpness), len(biases))
    names = ("margin", "printed_positive", "printed_negative", "formula_error")
    tables = {name: np.full(shape, np.nan) for name in names}
    tables["exchanged_error"] = np.full(shape, np.nan)
    pairs = jax.tree.map(lambda _: put(np.asarray(biases, float)), ReluPair())
    for (i, K), (j, L) in itertools.product(enumerate(groups), enumerate(lengths)):
        if K + 1 < L:
            continue
        data = MixtureTask(K, L).sequences()
        frame, label = frame_of(data, basis_of(data)), np.asarray(data.label)
        for k, C in enumerate(sharpness):
            cases = _constructions(K, C)
            outputs = _OUTPUTS(Effort.LEAST, frame, data, cases, pairs)
            margins = [label * np.asarray(output) for output in outputs]
            for name, numbers in _judge_construction(label, margins, L, C).items():
                tables[name][i, j, k] = numbers
    dims = ("seed", "K", "L", "sharpness", "bias")
    return xr.Dataset(
        {name: (dims, values[None]) for name, values in tables.items()},
        {
            "K": list(groups),
            "L": list(lengths),
            "sharpness": list(sharpness),
            "bias": list(biases),
        },
    )


def _constructions(K: int, C: float) -> Tables:
    """The printed scores and values, corrected ones, and heads exchanged."""
    eye, zero = np.eye(K), np.zeros((K, K))
    crossed = np.block([[zero, zero], [eye, zero]])  # key v_k, query c_k
    printed = C * np.stack([2 * crossed + np.eye(2 * K), np.eye(2 * K) - 2 * crossed])
    on_c, on_v = np.repeat([1.0, 0.0], K), np.repeat([0.0, 1.0], K)
    both = np.stack([on_c, on_c])
    scores = np.stack([printed, C * np.stack([-crossed, crossed]), printed[::-1]])
    values = np.stack([np.stack([on_v, -on_v]), both, both])
    return Tables(put(scores), put(values))


def _construction_outputs(
    frame: AbstractFrame, data: Sequences, cases: Tables, pairs: ReluPair
) -> tuple[Array, Array, Array]:
    """Outputs of the heads' sum as printed, and by bias of the two other cases."""
    printed, corrected, exchanged = jax.vmap(
        lambda tables: Problem().head_outputs(frame.pairs(tables), data)
    )(cases)
    by_bias = [
        jax.vmap(lambda pair, heads=heads: pair(heads, data.label))(pairs)
        for heads in (corrected, exchanged)
    ]
    return Linear(2)(printed, data.label), by_bias[0], by_bias[1]


_OUTPUTS = Program(_construction_outputs)


def _judge_construction(
    label: np.ndarray, margins: list[np.ndarray], L: int, C: float
) -> dict[str, float | np.ndarray]:
    """Numbers of the construction; of `corrected` and `exchanged` one for each bias."""
    additive, corrected, exchanged = margins
    formula = 1 / (L - 1 + math.exp(-C)) - 1 / (L - 1 + math.exp(C))
    exchanged_formula = _share(C, -2 * C, L) - _share(C, 2 * C, L)
    return {
        "margin": corrected.min(axis=1),
        "formula_error": np.abs(corrected - formula).max(axis=1),
        "exchanged_error": np.abs(exchanged - exchanged_formula).max(axis=1),
        "printed_positive": float((additive[label > 0] > 0).mean()),
        "printed_negative": float((additive[label < 0] > 0).mean()),
    }


def _share(score: float, rival: float, length: int) -> float:
    """Softmax probability `e^s / (e^s + e^r + L − 2)` of score s, without overflow."""
    return 1 / (1 + math.exp(rival - score) + (length - 2) * math.exp(-score))


def separable_patterns(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Number of activation patterns (of 256) with separable conflicting samples.

    `tied`: the separating weights must produce the pattern themselves, as in Lemma 5.4;
    `untied`: the pattern is fixed and may come from other weights. A free bias per head
    is the weaker assumption. `possible` counts the patterns that some weights produce,
    and `untied_possible` the separable ones among them, with the features of eq. (2).
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
    """Pooled tokens of the conflicting samples under uniform attention, and labels.

    L queries that each average L keys add up to the sum of the tokens.
    """
    data = MixtureTask().sequences()
    conflicting = np.asarray(data.group) == data.group_names.index("conflicting")
    tokens = data.host_tokens
    reads = tokens[np.asarray(data.key)].sum(axis=1)[conflicting]
    return reads, np.asarray(data.label)[conflicting]


def _possible_patterns(reads: np.ndarray, label: np.ndarray) -> dict[str, int]:
    """Number of activation patterns that some weights produce, and of separable ones.

    A ReLU sees w · x + b. It makes no difference whether b is free, since the group
    tokens of the samples can absorb a shift of b.
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


def initial_margins(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
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
    """Initial Gram matrix of keys and queries of each head, `(2, 8, 8)`."""
    weights = np.random.default_rng(stream).standard_normal((2, width, 8))
    return omega**2 / width * weights.swapaxes(-1, -2) @ weights


def _initial_system(data: Sequences) -> tuple[Training, State]:
    limit = Initial("infinite", 1.0)
    form, state = build("gram", data, limit, heads=2, key=random.key(0))
    return Training(form, Problem(), data, data.probability, ("scores",)), state


@eqx.filter_jit
def _initial_reads(system: Training, state: State, grams: Array) -> Array:
    """Pooled tokens of each sample, `(cells, samples, heads, tokens)`."""

    def read(gram: Array) -> Array:
        view = View(system, {**state, "scores": gram})
        return find("pooled_token").compute(view)

    return jax.vmap(read)(grams)


def initial_products(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Rate at which Lemma G.1's bounds are violated, per pair and by any pair."""
    width, omega, delta = setting["width"], setting["omega"], setting["delta"]
    reach = 4 / width * math.log(8 / delta)
    bound = omega**2 * (math.sqrt(reach) + reach)
    upper = np.triu(np.ones((8, 8), bool))
    violations = [
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
            "per_pair": ("seed", [violated.mean() for violated in violations]),
            "any_pair": (
                "seed",
                [violated.any(axis=1).mean() for violated in violations],
            ),
            "bound": ("seed", np.full(len(seeds), bound)),
        }
    )


def conformances(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Largest deviation of scores and values from full weights, up to each record.

    `difference` is that of the reduced forms, `divergence` that of runs of full weights
    whose initial weights are one ulp apart, `size` the largest entry up to a record.
    """
    forms: tuple[FormName, ...] = ("gram", "transport")
    differences, divergences, sizes = [], [], []
    for seed in seeds:
        weights = _plain_weights(setting, seed)
        plain = _trajectory(setting, "weights", weights)
        twins = [
            _trajectory(setting, "weights", _perturbed(weights, twin))
            for twin in range(setting["twins"])
        ]
        others = [_trajectory(setting, form, weights) for form in forms]
        differences.append([_deviation(plain, other) for other in others])
        divergences.append(np.max([_deviation(plain, twin) for twin in twins], axis=0))
        sizes.append(_deviation(plain, np.zeros_like(plain)))
    return xr.Dataset(
        {
            "difference": (("seed", "form", "record"), np.array(differences)),
            "divergence": (("seed", "record"), np.array(divergences)),
            "size": (("seed", "record"), np.array(sizes)),
        },
        {"form": list(forms)},
    )


def _plain_weights(setting: Setting, seed: int) -> Weights:
    initial = Initial(setting["width"], setting["omega"], draw="weights")
    weights = draw_weights(initial, 2, 4, key=random.key(seed))
    return {name: np.asarray(array) for name, array in weights.items()}


def _perturbed(weights: Weights, seed: int) -> Weights:
    draw = np.random.default_rng(seed)
    return {
        name: np.nextafter(w, np.where(draw.random(w.shape) < 0.5, np.inf, -np.inf))
        for name, w in weights.items()
    }


def _trajectory(setting: Setting, form: FormName, weights: Weights) -> np.ndarray:
    """Scores and values of a run, `(records, entries)`."""
    plan = Simultaneous(
        width=setting["width"],
        steps=setting["steps"],
        form=form,
        records=41,
        record=("score", "value"),
    )
    recorded = run(simultaneous(plan), weights=weights)
    parts = [recorded[name].values[0] for name in plan.record]
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def _deviation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The largest difference up to each record."""
    return np.maximum.accumulate(np.abs(first - second).max(axis=1))
