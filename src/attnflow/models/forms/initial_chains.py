"""Initial values by a chain: a matrix and an output vector, or a layer of neurons."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Float

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.base import BasisVectors, Built, DrawnWeights, Weights
from attnflow.models.forms.initial_values import (
    AbstractValues,
    Alike,
    Draw,
    Law,
    bartlett_factor,
    check_draw,
    check_scales,
    check_widths,
    draw_entries,
    gram_of,
    shortened,
)
from attnflow.models.forms.neurons import drawn_neurons, given_neurons
from attnflow.models.forms.values import ChainGram, ChainTransport, ValueTable
from attnflow.models.forms.weights import (
    ChainWeights,
    FixedOutputWeights,
    NeuronWeights,
)

DrawnFactor = Float[np.ndarray, "heads rows columns"]


@dataclass(frozen=True)
class Chain(AbstractValues):
    """Values by two layers: the value of x is `w_Oᵀ W_V x`.

    **Arguments:**

    - `width`: rows of `W_V`.
    - `scale`, `output_scale`: standard deviations of the entries of `W_V` and `w_O`.
    - `output`: entries of `w_O` by `law`, or two `banks`: `+output_scale` in the first
      half of them and `−output_scale` in the second.
    - `trained`: whether `w_O` moves.
    """

    width: int
    scale: float
    output_scale: float
    trained: bool = True
    law: Law = "normal"
    output: Literal["law", "banks"] = "law"
    alike_is_known: ClassVar[bool] = True
    axes: ClassVar[dict[str, tuple[str, ...]]] = {
        "W_V": ("value_width", "embed"),
        "w_O": ("value_width",),
    }

    def __post_init__(self) -> None:
        check_scales(scale=self.scale, output_scale=self.output_scale)
        check_widths(width=self.width)
        if self.output == "banks" and self.width % 2:
            raise ValueError(
                f"width is {self.width}, but two banks of outputs need an even number "
                f"of neurons. Use width={self.width + 1}."
            )

    def draw(self, heads: int, embed: int, *, key: Key) -> DrawnWeights:
        """`W_V`: `(heads, width, embed)`, `w_O`: `(heads, width)`."""
        key_v, key_o = random.split(key)
        shape = (heads, self.width, embed)
        W_V = draw_entries(self.law, self.scale, shape, key=key_v)
        return {"W_V": W_V, "w_O": self._outputs(shape[:2], key=key_o)}

    def _outputs(self, shape: tuple[int, ...], *, key: Key) -> np.ndarray:
        if self.output == "law":
            return draw_entries(self.law, self.output_scale, shape, key=key)
        half = np.where(np.arange(self.width) < self.width // 2, 1.0, -1.0)
        return self.output_scale * np.broadcast_to(half, shape)

    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """`W_V`, and `w_O` where it is trained."""
        span, moved = on_device(basis), on_device(weights)
        if self.trained:
            return ChainWeights(span), {n: moved[n] for n in ("W_V", "w_O")}
        return FixedOutputWeights(span, moved["w_O"]), {"W_V": moved["W_V"]}

    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """The chain on the tokens' span."""
        output, first = np.asarray(weights["w_O"]), np.asarray(weights["W_V"])
        if self.trained:
            factor = given_factor(first, output, basis)
            return part_of_factor(factor, np.ones(len(output)), gram=gram)
        table = (output[:, None, :] @ first)[:, 0] @ np.asarray(basis).T
        return ValueTable(on_device((output**2).sum(axis=1))), on_device(table)

    def sampled(
        self, heads: int, rank: int, *, gram: bool, key: Key, draw: Draw = "bartlett"
    ) -> Built:
        """A draw of `[W_V β]`; for fixed `w_O` its norm and the values."""
        check_draw(self.law, draw)
        if self.output == "banks":
            raise ValueError(
                "Two banks of outputs are drawn with their weights alone: use "
                "draw='weights' (or 'auto')."
            )
        if not self.trained:
            return self._sampled_table(heads, rank, key=key, draw=draw)
        factor = drawn_factor(
            self.width,
            rank,
            scale=self.scale,
            seen_scales=np.full(heads, self.output_scale),
            key=key,
            draw=draw,
        )
        return part_of_factor(factor, np.ones(heads), gram=gram)

    def _sampled_table(self, heads: int, rank: int, *, key: Key, draw: Draw) -> Built:
        """Given `w_O`, values are normal with variance `|w_O|² scale²`, exactly."""
        key_norm, key_table = random.split(key)
        square = np.full(heads, float(self.width))
        if draw == "bartlett":
            square = random.chisquare(key_norm, square)
        norm = self.output_scale * np.sqrt(square)
        scale = 0.0 if draw == "expected" else self.scale
        table = draw_entries("normal", scale, (heads, rank), key=key_table)
        return ValueTable(on_device(norm**2)), on_device(norm[:, None] * table)

    def alike(self, weights: Weights) -> Alike:
        """Every neuron by itself."""
        output = np.asarray(weights["w_O"])
        trained = output if self.trained else None
        return Alike(np.asarray(weights["W_V"]), output, output, output=trained)

    def is_small(self, embed: int, limit: int) -> bool:
        """Few weights, or a law that only weights have."""
        few = self.width * embed <= limit or self.width < embed + 1
        return few or self.law != "normal" or self.output == "banks"


@dataclass(frozen=True)
class Neurons(AbstractValues):
    """Values by a linear layer of neurons: the value of x is `aᵀ W W_V x`, a fixed.

    **Arguments:**

    - `width`: rows of `W_V`; `count`: neurons, rows of `W`.
    - `scale`, `inner_scale`: standard deviations of the entries of `W_V` and `W`.
    - `output`: `signs` (each ±`output_scale`), or entries of that standard deviation by
      `law`.
    - `follow`: whether reduced forms carry the single neurons along, which the values
      do not need: then what each of them reads is known as well, at the cost of
      `count` more rows. Plain weights hold them in any case.
    """

    width: int
    count: int
    scale: float
    inner_scale: float
    output_scale: float = 1.0
    output: Literal["signs", "law"] = "signs"
    law: Law = "normal"
    follow: bool = False
    axes: ClassVar[dict[str, tuple[str, ...]]] = {
        "W_V": ("value_width", "embed"),
        "W": ("neuron", "value_width"),
        "a": ("neuron",),
    }

    def __post_init__(self) -> None:
        check_scales(
            scale=self.scale,
            inner_scale=self.inner_scale,
            output_scale=self.output_scale,
        )
        check_widths(width=self.width, count=self.count)

    def draw(self, heads: int, embed: int, *, key: Key) -> DrawnWeights:
        """`W_V`: `(heads, width, embed)`, `W`: `(heads, count, width)`, `a`."""
        key_v, key_w, key_a = random.split(key, 3)
        first, inner = (heads, self.width, embed), (heads, self.count, self.width)
        return {
            "W_V": draw_entries(self.law, self.scale, first, key=key_v),
            "W": draw_entries(self.law, self.inner_scale, inner, key=key_w),
            "a": self._draw_output(inner[:2], key=key_a),
        }

    def _draw_output(self, shape: tuple[int, ...], *, key: Key) -> np.ndarray:
        if self.output == "law":
            return draw_entries(self.law, self.output_scale, shape, key=key)
        return self.output_scale * random.rademacher(key, shape)

    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """`W_V` and `W`."""
        moved = on_device(weights)
        part = NeuronWeights(on_device(basis), moved["a"])
        return part, {name: moved[name] for name in ("W_V", "W")}

    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """The chain of `W_V` and `β = Wᵀ a`, with gain `|a|²`."""
        self._check_follow(gram)
        full = {name: np.asarray(weight) for name, weight in weights.items()}
        seen = (full["a"][:, None, :] @ full["W"])[:, 0]
        factor = given_factor(full["W_V"], seen, basis)
        if self.follow:
            return given_neurons(full, seen, factor, basis)
        gain = (full["a"] ** 2).sum(axis=1)
        return part_of_factor(factor, gain, gram=gram)

    def sampled(
        self, heads: int, rank: int, *, gram: bool, key: Key, draw: Draw = "bartlett"
    ) -> Built:
        """A draw of `[W_V β]`: given a, entries of β have variance `|a|² inner²`."""
        check_draw(self.law, draw)
        self._check_follow(gram)
        key_a, key_chain = random.split(key)
        gain = self.output_scale**2 * self._squares(heads, draw, key=key_a)
        factor = drawn_factor(
            self.width,
            rank,
            scale=self.scale,
            seen_scales=self.inner_scale * np.sqrt(gain),
            key=key_chain,
            draw=draw,
        )
        if not self.follow:
            return part_of_factor(factor, gain, gram=gram)
        # New keys, so that the values of a seed are the same with neurons and without.
        key_output, key_rows = random.split(random.fold_in(key, 1))
        output = self._draw_output((heads, self.count), key=key_output)
        if self.output == "law" and self.output_scale > 0:
            # The norm of normal entries is independent of their direction.
            norm = np.linalg.norm(output, axis=1)
            output = output * (np.sqrt(gain) / norm)[:, None]
        return drawn_neurons(
            output, factor, inner_scale=self.inner_scale, key=key_rows, draw=draw
        )

    def _squares(self, heads: int, draw: Draw, *, key: Key) -> np.ndarray:
        """`|a|²` in units of `output_scale²`, drawn or expected."""
        if self.output == "signs" or draw != "bartlett":
            return np.full(heads, float(self.count))
        return random.chisquare(key, self.count, (heads,))

    def _check_follow(self, gram: bool) -> None:
        if self.follow and gram:
            raise ValueError(
                "The neurons are to be followed, but Gram matrices keep the inner "
                "products of W_V and β alone, which forget the single rows of W. Use "
                "form='transport' or 'weights', or follow=False."
            )

    def is_small(self, embed: int, limit: int) -> bool:
        """Few weights, or a law that only weights have."""
        few = self.width * (embed + self.count) <= limit or self.width < embed + 1
        return few or self.law != "normal"


def given_factor(
    first: Float[np.ndarray, "heads width embed"],
    seen: Float[np.ndarray, "heads width"],
    basis: BasisVectors,
) -> DrawnFactor:
    """The factor for given `W_V` and β, at most as many rows as columns."""
    read = first @ np.asarray(basis).T
    return shortened(np.concatenate([read, seen[..., None]], axis=-1))


def part_of_factor(factor: DrawnFactor, gain: np.ndarray, *, gram: bool) -> Built:
    """The part that moves the chain, and its state."""
    if gram:
        return ChainGram(on_device(gain)), on_device(gram_of(factor))
    return ChainTransport(on_device(gain)), on_device(factor)


def drawn_factor(
    width: int,
    rank: int,
    *,
    scale: float,
    seen_scales: Float[np.ndarray, " heads"],
    key: Key,
    draw: Draw,
) -> DrawnFactor:
    """The factor in law, without weights.

    Rows are independent; entries of `W_V` have standard deviation `scale`, those of β
    the head's `seen_scales`. So the expected Gram matrix is diagonal, with
    `α² = width · scale²` for each basis vector and `b = width · seen_scale²` last.
    At large width the values `G = W_Vᵀ β` are normal with variance `b · scale²`; then

        F = [[α I, G / α], [0, sqrt(b − |G|² / α²)]]

    has them and the expected Gram matrices otherwise.
    """
    heads = len(seen_scales)
    scales = np.full((heads, rank), scale)
    scales = np.concatenate([scales, seen_scales[:, None]], axis=1)[:, None, :]
    if draw == "bartlett":
        if width < rank + 1:
            raise ValueError(
                f"The value width {width} is below the tokens' rank {rank} plus one, "
                "where the Gram matrix is singular. Use draw='weights'."
            )
        return bartlett_factor(width, rank + 1, heads, key=key) * scales
    unit = np.tile(np.eye(rank + 1), (heads, 1, 1))
    if draw == "limit":
        # In units of the scales G / α is ξ / sqrt(width), which needs no scale > 0.
        noise = random.normal(key, (heads, rank)) / np.sqrt(float(width))
        left = 1 - (noise**2).sum(axis=1)
        _require_room(left, width, rank)
        unit[:, :rank, rank] = noise
        unit[:, rank, rank] = np.sqrt(left)
    return unit * scales * np.sqrt(float(width))


def _require_room(left: np.ndarray, width: int, rank: int) -> None:
    if bool((left < 0).any()):
        raise ValueError(
            f"draw is 'limit' but the value width {width} is not large against the "
            f"tokens' rank {rank}: no weights have initial values of that size beside "
            "the expected Gram matrices. Use a larger width, or draw='bartlett' or "
            "'weights'."
        )
