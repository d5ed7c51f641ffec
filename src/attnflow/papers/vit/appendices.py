"""Appendices B and C without training: gradients, update rules, initial draws."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from attnflow.papers.vit._types import Fields
from attnflow.papers.vit.sizes import Sizes, sizes
from attnflow.schema.installation import xr
from attnflow.training import precise

Arrays = tuple[np.ndarray, ...]


def update_rules(setting: Fields, seeds: list[int]) -> xr.Dataset:
    """Errors of Lemmas B.1 to B.3 against autograd, over the largest entry."""
    with precise():
        rows = [_errors(setting, np.random.default_rng(seed)) for seed in seeds]
    names = rows[0]
    return xr.Dataset(
        {name: ("seed", [row[name] for row in rows]) for name in names}, {"seed": seeds}
    )


def _loss(weights: Arrays, samples: np.ndarray, y: np.ndarray) -> jax.Array:
    """The mean logistic loss, from equation (1)."""
    w_q, w_k, w_v, w_o = weights
    scores = (samples @ w_q) @ jnp.swapaxes(samples @ w_k, 1, 2)
    mixed = jax.nn.softmax(scores, axis=-1) @ (samples @ w_v) @ w_o
    return jnp.logaddexp(0, -y * mixed.mean(1)).mean()


def _errors(setting: Fields, draw: np.random.Generator) -> dict[str, float]:
    count, length, embed = (setting[n] for n in ("samples", "length", "embed"))
    y = np.where(np.arange(count) % 2, -1.0, 1.0)
    # Signals are the first two coordinates: noise that is projected has none of them.
    noise = draw.normal(size=(count * (length - 1), embed)) / np.sqrt(embed)
    noise[:, :2] = 0.0
    z = np.vstack([setting["signal_norm"] * np.eye(2, embed), noise])
    others = 2 + np.arange(len(noise)).reshape(count, -1)
    index = np.hstack([np.where(y > 0, 0, 1)[:, None], others])
    width, values = setting["key_width"], setting["value_width"]
    shapes = (embed, width), (embed, width), (embed, values), (values,)
    weights = tuple(draw.normal(size=s) / np.sqrt(s[-1]) for s in shapes)
    slopes = jax.grad(_loss)(weights, z[index], y)
    exact = tuple(np.asarray(slope) for slope in slopes)
    forces, received = _forces(weights, z, index, y)
    rate = setting["learning_rate"]
    w_q, w_k, w_v, w_o = weights
    printed = (z.T @ forces @ z @ w_k, z.T @ forces.T @ z @ w_q)
    printed += (np.outer(z.T @ received, w_o),)
    q, k, gram = z @ w_q, z @ w_k, z @ z.T
    alpha, beta = -rate * gram @ forces, -rate * gram @ forces.T
    new_q, new_k, new_v = (
        z @ (w - rate * e) for w, e in zip(weights, exact[:3], strict=False)
    )
    step = alpha @ k @ k.T + q @ q.T @ beta.T + alpha @ k @ q.T @ beta.T
    return {
        **{
            f"gradient of W_{name}": _error(ours, theirs)
            for name, ours, theirs in zip("QKV", printed, exact, strict=False)
        },
        "step of V": _error(
            -rate * gram @ received * (w_o @ w_o), (new_v - z @ w_v) @ w_o
        ),
        "step of scores": _error(step, new_q @ new_k.T - q @ k.T),
    }


def _forces(weights: Arrays, z: np.ndarray, index: np.ndarray, y: np.ndarray) -> Arrays:
    """The lemmas' sums over samples: slopes of the loss in scores, and in values."""
    w_q, w_k, w_v, w_o = weights
    scores = np.einsum("nid,njd->nij", (z @ w_q)[index], (z @ w_k)[index])
    share = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    v = (z @ w_v @ w_o)[index]
    out = np.einsum("nij,nj->n", share, v) / index.shape[1]
    weight = (-y / (1 + np.exp(y * out)) / index.size)[:, None, None]
    # v (diag φ − φᵀφ), row by row.
    rows = share * (v[:, None] - np.einsum("nij,nj->ni", share, v)[..., None])
    forces, received = np.zeros((len(z), len(z))), np.zeros(len(z))
    np.add.at(forces, (index[:, :, None], index[:, None, :]), weight * rows)
    np.add.at(received, index, (weight * share).sum(1))
    return forces, received


def _error(ours: np.ndarray, exact: np.ndarray) -> float:
    return float(abs(ours - exact).max() / abs(exact).max())


def initial_draws(setting: Fields, seeds: list[int]) -> xr.Dataset:
    """In how many of the draws each bound of Lemmas C.1, C.2 and C.4 is violated."""
    size = sizes(setting)
    rows = []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        drawn = [_violations(size, draw) for _ in range(setting["draws"])]
        rows.append({name: sum(row[name] for row in drawn) for name in drawn[0]})
    return xr.Dataset(
        {name: ("seed", [row[name] for row in rows]) for name in rows[0]},
        {"seed": seeds},
    )


def _violations(size: Sizes, draw: np.random.Generator) -> dict[str, bool]:
    count, length = size.samples, size.length
    share = draw.choice([0.0, 1.0], size=count).mean()
    scales = np.full((count, length - 1), size.weak)
    scales[:, 0] = size.strong
    # Projected noise is normal in two coordinates less.
    noise = scales[..., None] * draw.normal(size=(*scales.shape, size.embed - 2))
    ratios = (noise**2).sum(-1) / (scales**2 * size.embed)
    flat = noise.reshape(-1, size.embed - 2)
    products = abs(np.triu(flat @ flat.T, 1)).max()
    tail = np.log(4 * (count * length) ** 2 / size.delta)
    # In units of d_h^−¼: W_V w_O is normal, with σ_V‖w_O‖.
    unit = size.sigma_v * np.sqrt(size.gain) * size.key_width**0.25
    signals = size.signal * draw.normal(size=2)
    values = unit * abs(
        np.concatenate([signals, flat @ draw.normal(size=size.embed - 2)])
    )
    smaller = size.ratio * np.sqrt(2 * np.log(2 * count * length / size.delta))
    return {
        "classes": bool(abs(share - 0.5) > 0.25),
        "norms": bool((abs(ratios - 1) > 0.5).any()),
        "products": bool(products > 2 * size.strong**2 * np.sqrt(size.embed * tail)),
        "values": bool((values > 1).any()),
        "smaller values": bool((values > smaller).any()),
    }
