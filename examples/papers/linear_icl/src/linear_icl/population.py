"""The population: a loss in closed form, at any number of dimensions."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np

import attnflow as af
from linear_icl.settings import Linear

BUILD = af.Builder("linear_icl", citation="zhang2025training")


def spectrum(dimension: int) -> np.ndarray:
    """Eigenvalues of Λ, largest first."""
    sizes = np.arange(dimension, 0, -1.0)
    return sizes / sizes.sum()


@dataclass(frozen=True)
class Population(af.LossModel):
    """f = x_qᵀ A β with `A = Σ_h v_h U_h` and `β = Σ_n y_n x_n`, in Λ's eigenbasis.

    With y = ωᵀx for x ~ N(0, Λ) and ω ~ N(0, I), `E β βᵀ = N Λ tr Λ + N (N+1) Λ²` and
    `L = tr Λ − 2 N tr(ΛAΛ) + tr(Λ A E[ββᵀ] Aᵀ)`. Entries of the model that act on
    products of x alone, or of y alone, are zero at the start and stay so.
    """

    setting: Linear
    system: ClassVar[str] = "linear attention on a Gaussian population"

    def draw(self, *, key: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
        s, draw = self.setting, np.random.default_rng(np.asarray(key).tolist())
        heads, size = s.heads, s.dimension
        shape = {n: (heads, s.rank, size) for n in "KQ"} if s.rank else {}
        shape = shape or {"U": (heads, size, size)}
        # As weights of prompts are drawn: all entries of a weight share `init`.
        wide = s.init / np.sqrt(heads * s.rank * (size + 1) if s.rank else 1)
        tall = s.init / (np.sqrt(heads) * (size + 1) if s.rank else 1)
        scores = {n: wide * draw.standard_normal(x) for n, x in shape.items()}
        return {"scores": scores, "values": {"v": tall * draw.standard_normal(heads)}}

    def product(self, weights: dict) -> jnp.ndarray:
        scores, v = weights["scores"], weights["values"]["v"]
        if self.setting.rank:
            return jnp.einsum("h,hra,hrb->ab", v, scores["Q"], scores["K"])
        return jnp.einsum("h,hab->ab", v, scores["U"])

    def loss(self, weights: dict, data: dict) -> jnp.ndarray:
        size, n = jnp.asarray(spectrum(self.setting.dimension)), self.setting.length
        square = n * size * size.sum() + n * (n + 1) * size**2
        a = self.product(weights)
        fit = (size[:, None] * a**2 * square).sum()
        return size.sum() - 2 * n * (size**2 * jnp.diagonal(a)).sum() + fit


def train(setting: Linear) -> af.Experiment:
    return BUILD.system(
        setting,
        model=Population(setting),
        stages=(af.Stage(af.GradientDescent(setting.learning_rate), setting.steps),),
        grid=af.Grid(setting.steps, setting.records),
        observables=("loss",),
    )
