"""The decoder alone under its true gradient, with the features F fixed.

With `W = FᵀY` and A = FᵀF, and R_n = e_n − α_n the residual of class n,

    dW_n/dt = (η/K) Σ_k A_nk R_k,     dS_n/dt = (η/K) R_n,     Y = F S,

so that `g_n = Σ_k (S_k · (e_n − α_n)) f_k`: classes are coupled by how they confuse
each other (claim E-R-11), `(γβ)_nk = (η/K) ∫ [α_n(k; t) + α_k(n; s) − α_n(t) · α_k(s)]
ds`.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp
from scipy.special import softmax


class Courses(NamedTuple):
    """Logits and integrated residuals of the classes, at each time.

    Columns are the K next tokens and one of the other M − K outputs; `sums` is S.
    """

    logits: Float[np.ndarray, "times classes columns"]
    sums: Float[np.ndarray, "times classes columns"]
    weights: Float[np.ndarray, " columns"]

    def shares(self) -> Float[np.ndarray, "times classes columns"]:
        """Probabilities α of single outputs."""
        shifted = self.logits + np.log(self.weights)
        return softmax(shifted, axis=-1) / self.weights

    def coupling(self) -> Float[np.ndarray, "times classes classes"]:
        """Coefficients of g_n on f_k; those off the diagonal are −γβ."""
        onehot = np.eye(*self.logits.shape[1:])
        pull = (onehot - self.shares()) * self.weights
        return np.einsum("tnc,tkc->tnk", pull, self.sums)

    def margins(self) -> tuple[np.ndarray, np.ndarray]:
        """Margins of the own logit over another class's, and over an unseen token's."""
        first = self.logits[:, 0]
        return first[:, 0] - first[:, 1], first[:, 0] - first[:, -1]


def train_decoder(
    gram: Float[np.ndarray, "classes classes"],
    vocabulary: float,
    rate: float,
    times: Float[np.ndarray, " times"],
    *,
    rtol: float = 1e-11,
) -> Courses:
    """The decoder's flow under the true gradient, from zero.

    **Arguments:** `gram` is FᵀF, `times` count samples of all classes.
    """
    classes = len(gram)
    weights = np.append(np.ones(classes), vocabulary - classes)
    weights = weights[: classes + (vocabulary > classes)]
    onehot = np.eye(classes, len(weights))

    def velocity(_: float, state: np.ndarray) -> np.ndarray:
        logits = gram @ state.reshape(onehot.shape)
        share = softmax(logits + np.log(weights), axis=1) / weights
        return (rate / classes * (onehot - share)).ravel()

    times = np.asarray(times, float)
    solution = solve_ivp(
        velocity,
        (0.0, float(times[-1])),
        np.zeros(onehot.size),
        method="DOP853",
        t_eval=times,
        rtol=rtol,
        atol=1e-13,
    )
    if not solution.success:
        raise RuntimeError(f"The decoder's flow was not solved: {solution.message}")
    sums = solution.y.T.reshape(len(times), *onehot.shape)
    return Courses(np.einsum("nk,tkc->tnc", gram, sums), sums, weights)


def equal_correlations(classes: int, rho: float) -> Float[np.ndarray, "K K"]:
    """FᵀF of features with the same inner product ρ."""
    return np.full((classes, classes), rho) + (1 - rho) * np.eye(classes)
