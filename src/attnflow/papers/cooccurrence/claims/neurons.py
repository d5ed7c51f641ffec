"""Velocities of single neurons' readouts w_j · W_V μ, by seed.

For runs that recorded every neuron on every token: `evidence.start`, of which time 0
counts, and `evidence.neurons`, along Phase 1.
"""

from __future__ import annotations

import math

import numpy as np

from attnflow import schema
from attnflow.claims import look
from attnflow.papers.cooccurrence.claims.windows import sizes, to_t1
from attnflow.schema.installation import xr

TARGETS = ["mu1", "mu2"]
COMMON = "mu3"
NAMED = [*TARGETS, COMMON]


def unit(run: xr.Dataset) -> float:
    """(σ0² + σ1²) m."""
    size = sizes(run)
    return (size.first + size.inner) * size.width


def table(run: xr.Dataset, name: str) -> xr.DataArray:
    """An observable at time 0, where the run has no horizon, or along Phase 1."""
    if schema.setting_of(run)["horizon"] is None:
        return run[name].isel(time=[0])
    return to_t1(run, name)


def velocity(run: xr.Dataset, tokens: list[str]) -> xr.DataArray:
    """a_j (w_j · W_V μ)' over (σ0² + σ1²) m, by seed, time, neuron and token."""
    rate = table(run, "neuron_value_rate").isel(head=0, drop=True).sel(token=tokens)
    return output_signs(run) * rate / unit(run)


def output_signs(run: xr.Dataset) -> xr.DataArray:
    """Output signs a by seed and neuron, from G(μ) = Σ_j a_j w_j·W_V μ at time 0.

    There are more tokens than neurons: least squares gives the signs to rounding.
    """
    first = run[["neuron_value", "value"]].isel(time=0, head=0)
    columns = first["neuron_value"].transpose("seed", "token", "neuron").values
    values = first["value"].transpose("seed", "token").values
    gram = np.einsum("sti,stj->sij", columns, columns)
    read = np.einsum("sti,st->si", columns, values)
    outputs = np.linalg.solve(gram, read[..., None])[..., 0]
    if not np.abs(np.abs(outputs) - 1).max() < 1e-6:
        raise ValueError(
            "The output weights a are not signs ±1: use a reading with signs, "
            "show='all' and follow=True."
        )
    return xr.DataArray(np.sign(outputs), dims=("seed", "neuron"))


def fillers(run: xr.Dataset) -> list[str]:
    """All tokens but the three named ones."""
    return [str(token) for token in run["token"].values if str(token) not in NAMED]


def pull_on_targets(run: xr.Dataset) -> xr.DataArray:
    """(1/n) Σ_{i ∋ μ} g_i y_i for μ1 and μ2, by seed, time and token.

    Equal to (1/n) Σ_i g_i y_i Σ_l p_{l,μ} at uniform attention, from which Phase 1
    departs by at most 1e-4.
    """
    pull = table(run, "pull_by_group")
    alone = pull.sel(group=["first", "second"]).rename(group="token")
    both = pull.sel(group="both", drop=True)
    return both - alone.assign_coords(token=TARGETS)


def off_pull(run: xr.Dataset) -> np.ndarray:
    """Largest |a_j (w_j · W_V μ)' − (σ0² + σ1²) m · pull|, over (σ0² + σ1²) m."""
    return look.largest(abs(velocity(run, TARGETS) - pull_on_targets(run)))


def largest(run: xr.Dataset, tokens: list[str]) -> np.ndarray:
    """The largest velocity of any neuron on some tokens, over (σ0² + σ1²) m."""
    return look.largest(abs(table(run, "neuron_value_rate").sel(token=tokens))) / unit(
        run
    )


def largest_output(run: xr.Dataset) -> np.ndarray:
    """F = max |F_i| at time 0."""
    return look.largest(abs(run["margin"].isel(time=0)))


def error_term(run: xr.Dataset, power_of_length: float) -> float:
    """σ0² sqrt(m) L^power, over (σ0² + σ1²) m."""
    size = sizes(run)
    return size.first * size.length**power_of_length * math.sqrt(size.width) / unit(run)


def neuron_term(run: xr.Dataset) -> float:
    """σ1² sqrt(m m1), over (σ0² + σ1²) m."""
    size = sizes(run)
    return size.inner * math.sqrt(size.width * size.neurons) / unit(run)
