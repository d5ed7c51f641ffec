"""An induction head of two layers, as a loss of weights: no table of it closes.

    python examples/induction.py          (ten seconds of one core)

The simplified model of "Unveiling Induction Heads" (Chen, Sheen, Wang and Yang, NeurIPS
2024). Every sequence has transitions of its own, from the two tokens before. Heads of
the first layer attend by relative position alone, each to a window of offsets; the
second layer compares, at every key, products of what the heads see there and at the
end: a feature for each set of components, with a weight `C²`. After twenty updates the
product of the heads at offsets 1 and 2, the two parents, has won.

`tests/examples/test_induction.py` holds it to the authors' program, step by step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import attnflow as af
from attnflow.data.random import Key
from attnflow.experiments import SystemExperiment, run

Weights = Mapping[str, Mapping[str, Array]]


@dataclass(frozen=True)
class Induction(af.LossModel):
    """First layer `W[o − 1, h]` by offset and head, second layer `C` and scale `a`."""

    samples: int = 270
    length: int = 30
    vocabulary: int = 3
    heads: int = 3
    degree: int = 2
    dirichlet: float = 0.1
    system: ClassVar[str] = "an induction head of two layers"
    records: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "validation_loss": (),
        "first_layer": ("offset", "head"),
        "feature_weight": ("feature",),
        "scale": (),
    }

    @property
    def degrees(self) -> np.ndarray:
        """Which components each feature multiplies: the token, then the heads."""
        rows = product((0, 1), repeat=self.heads + 1)
        return np.array([row for row in rows if sum(row) <= self.degree])

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Features by their components, such as `0110`."""
        return {
            "offset": tuple(str(o + 1) for o in range(self.length)),
            "head": tuple(str(h) for h in range(self.heads)),
            "feature": tuple("".join(map(str, row)) for row in self.degrees),
        }

    def sample(self, *, key: Key) -> dict[str, np.ndarray]:
        """Sequences to train on, and half as many for validation."""
        draw = np.random.default_rng(np.asarray(key).tolist())
        size, count = self.vocabulary, self.samples + self.samples // 2
        shape = (count, size, size)
        law = draw.dirichlet([self.dirichlet] * size, shape).cumsum(-1)
        tokens = draw.integers(size, size=(count, self.length + 1))
        every = np.arange(count)
        for t in range(2, self.length + 1):
            bounds = law[every, tokens[:, t - 2], tokens[:, t - 1]]
            drawn = (draw.random((count, 1)) > bounds).sum(-1)
            tokens[:, t] = np.minimum(drawn, size - 1)
        parts = {"": tokens[: self.samples], "validation_": tokens[self.samples :]}
        ends = {f"{name}next": rows[:, -1] for name, rows in parts.items()}
        return ends | {f"{name}tokens": rows[:, :-1] for name, rows in parts.items()}

    def draw(self, *, key: Key) -> dict[str, dict[str, np.ndarray]]:
        """Every head prefers the first offset of its window."""
        first = np.full((self.length, self.heads), 0.1)
        first[np.arange(self.heads), np.arange(self.heads)] = 3.0
        features = np.full(len(self.degrees), 0.01)
        return {"scores": {"W": first}, "values": {"C": features, "a": np.array(0.01)}}

    def components(self, first: Array, e: Float[Array, "n length vocabulary"]) -> Array:
        """What every component sees at every position, and at the end: `(n, c, …)`."""
        end = jnp.pad(e, ((0, 0), (0, 1), (0, 0)))
        seen = [end]
        place = np.arange(self.length + 1)
        for head in range(self.heads):
            offsets = np.arange(head + 1, head + self.heads + 1)
            source = place[:, None] - offsets
            there = np.asarray(source >= 0)
            score = jnp.where(there, first[offsets - 1, head], -jnp.inf)
            # The first position has no offset: it reads nothing, and stays so.
            none = ~there.any(axis=1, keepdims=True)
            paid = jax.nn.softmax(jnp.where(none, 0.0, score), axis=1) * there
            read = jnp.einsum("io,niov->niv", paid, end[:, np.maximum(source, 0)])
            square = (read**2).sum(-1, keepdims=True)
            size = jnp.sqrt(jnp.where(square > 0, square, 1.0)) * (square > 0)
            seen.append(read / (size + 1e-7))
        return jnp.stack(seen, axis=1)

    def logits(self, weights: Weights, tokens: Array) -> Float[Array, "n vocabulary"]:
        """The distribution that attention reads, which the loss takes for logits."""
        e = jax.nn.one_hot(tokens, self.vocabulary)
        seen = self.components(weights["scores"]["W"], e)
        alike = jnp.einsum("ncv,nciv->nci", seen[:, :, -1], seen[:, :, :-1])
        alike = jax.nn.relu(alike) + 1e-24
        degrees = self.degrees
        chosen = jnp.where(degrees[:, :, None] > 0, alike[:, None], 1.0)
        share = weights["values"]["C"] ** 2
        sums = jnp.einsum("f,nfi->ni", share, chosen.prod(axis=2))
        # The token itself is zero at the end: features with it are inert.
        score = sums / jnp.sum(share * (degrees[:, 0] == 0))
        paid = jax.nn.softmax(weights["values"]["a"] * score, axis=1)
        return jnp.einsum("ni,niv->nv", paid, e)

    def _mean(self, weights: Weights, tokens: Array, label: Array) -> Array:
        output = self.logits(weights, tokens)
        target = jnp.take_along_axis(output, label[:, None], axis=1)[:, 0]
        return (jax.nn.logsumexp(output, axis=1) - target).mean()

    def loss(self, weights: Weights, data: Mapping[str, Array]) -> Array:
        """Mean cross-entropy of the next token."""
        return self._mean(weights, data["tokens"], data["next"])

    def validation_loss(self, weights: Weights, data: Mapping[str, Array]) -> Array:
        """The same on sequences that are never trained on."""
        return self._mean(weights, data["validation_tokens"], data["validation_next"])

    def first_layer(self, weights: Weights, data: Mapping[str, Array]) -> Array:
        """W, by offset and head."""
        return weights["scores"]["W"]

    def feature_weight(self, weights: Weights, data: Mapping[str, Array]) -> Array:
        """C, by feature."""
        return weights["values"]["C"]

    def scale(self, weights: Weights, data: Mapping[str, Array]) -> Array:
        """The scale a of the second layer's scores."""
        return weights["values"]["a"]


@dataclass(frozen=True)
class Setting:
    """Full-batch gradient descent."""

    learning_rate: float = 1.0
    steps: int = 200


def train(setting: Setting, model: Induction) -> SystemExperiment:
    """All weights at once."""
    rule = af.GradientDescent(setting.learning_rate)
    return af.Builder("induction").system(
        setting,
        model=model,
        stages=(af.Stage(rule, setting.steps),),
        grid=af.Grid(setting.steps, 21),
        observables=("loss", *Induction.records),
    )


def main() -> None:
    """Train once, and print which feature won."""
    course = run(train(Setting(), Induction())).isel(seed=0)
    for time in (0, 20, 200):
        row = course.sel(time=time)
        best = course["feature"].values[np.abs(row["feature_weight"].values).argmax()]
        print(f"step {time}: loss {float(row['loss']):.4f}, top feature {best}")


if __name__ == "__main__":
    main()
