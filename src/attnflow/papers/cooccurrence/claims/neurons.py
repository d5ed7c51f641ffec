"""Velocities of single neurons' readouts w_j · W_V μ, by seed.

For runs that recorded every neuron on every token (`evidence.start`, where nothing
moves, and `evidence.neurons`); over all records and the end.
"""

import math

import xarray as xr

from attnflow import schema
from attnflow.papers.cooccurrence.claims.evidence import with_end
from attnflow.papers.cooccurrence.claims.ladders import output_signs, variances

TARGETS = ["mu1", "mu2"]
COMMON = "mu3"
NAMED = [*TARGETS, COMMON]


def unit(run: xr.Dataset) -> float:
    """(σ0² + σ1²) m."""
    return sum(variances(run)) * schema.setting_of(run)["width"]


def velocity(run: xr.Dataset, tokens: list[str]) -> xr.DataArray:
    """a_j (w_j · W_V μ)' over (σ0² + σ1²) m, by seed, time, neuron and token."""
    rate = with_end(run, "neuron_value_rate").isel(head=0).sel(token=tokens)
    return output_signs(run) * rate / unit(run)


def fillers(run: xr.Dataset) -> list[str]:
    """All tokens but the three named ones."""
    return [str(token) for token in run["token"].values if str(token) not in NAMED]


def pull_on_targets(run: xr.Dataset) -> xr.DataArray:
    """(1/n) Σ_{i ∋ μ} g_i y_i for μ1 and μ2, by seed, time and token.

    Equal to (1/n) Σ_i g_i y_i Σ_l p_{l,μ} at uniform attention, from which Phase 1
    departs by at most 1e-4.
    """
    pull = with_end(run, "pull_by_group")
    alone = pull.sel(group=["first", "second"]).rename(group="token")
    both = pull.sel(group="both", drop=True)
    return both - alone.assign_coords(token=TARGETS)


def off_pull(run: xr.Dataset) -> xr.DataArray:
    """Largest |a_j (w_j · W_V μ)' − (σ0² + σ1²) m · pull|, over (σ0² + σ1²) m."""
    off = abs(velocity(run, TARGETS) - pull_on_targets(run))
    return off.max(["time", "neuron", "token"])


def largest(run: xr.Dataset, tokens: list[str]) -> xr.DataArray:
    """The largest velocity of any neuron on some tokens, over (σ0² + σ1²) m."""
    rate = with_end(run, "neuron_value_rate").isel(head=0).sel(token=tokens)
    return abs(rate).max(["time", "neuron", "token"]) / unit(run)


def largest_output(run: xr.Dataset) -> xr.DataArray:
    """F = max |F_i| at time 0."""
    return abs(run["margin"].isel(time=0)).max("sample")


def error_term(run: xr.Dataset, power_of_length: float) -> float:
    """σ0² sqrt(m) L^power, over (σ0² + σ1²) m."""
    setting = schema.setting_of(run)
    size = variances(run)[0] * setting["length"] ** power_of_length
    return size * math.sqrt(setting["width"]) / unit(run)


def neuron_term(run: xr.Dataset) -> float:
    """σ1² sqrt(m m1), over (σ0² + σ1²) m."""
    setting = schema.setting_of(run)
    root = math.sqrt(setting["width"] * setting["neurons"])
    return variances(run)[1] * root / unit(run)
