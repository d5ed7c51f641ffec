"""Claim on gradient descent (Section 3.2): slower than SignGD, and it generalises."""

import numpy as np
import xarray as xr

from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims.evidence import FEW, SETTING_A, SIZES_A
from attnflow.papers.signgd.claims.fits import column, falls
from attnflow.papers.signgd.claims.statistics import extent, per_seed
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Request

NEEDS = {
    **SETTING_A,
    "gd": Request("gd", seeds=FEW),
    "slow": Request("gd", {"learning_rate": 1e-4}, seeds=FEW),
}


def _judge(evidence: Evidence) -> Finding:
    run, slow = evidence["gd"], evidence["slow"]
    sign = evidence["a"].sel(seed=run["seed"])
    last, other = run.isel(time=-1), sign.isel(time=-1)
    fits = falls(run, 1000)
    line, power = column(fits, "exponential"), column(fits, "algebraic")
    one_sign = series.aligned(run).sel(time=10).values
    half = abs(series.noise_to_signal(run).sel(time=600) - 0.5).max(("sample", "head"))
    return Finding(
        (
            per_seed(1 - power / line, "a power law fits better"),
            per_seed((last["loss"] / other["loss"]).values - 1, "slower than SignGD"),
            per_seed(slow.isel(time=-1)["loss"].values - 0.65, "at rate 1e-4: flat"),
            per_seed(0.1 - last["test_loss"].values, "test loss below 0.1"),
            per_seed(other["test_loss"].values - 0.4, "SignGD: test loss above 0.4"),
            per_seed(0.1 - abs(one_sign - 0.5), "pairs of one sign at t = 10: half"),
            per_seed(0.1 - half.values, "attention of noise still 1/2 at t = 600"),
        ),
        {
            "loss": extent(last["loss"]),
            "loss at rate 1e-4": extent(slow.isel(time=-1)["loss"]),
            "power": extent(column(fits, "power")),
            "residual, power law": extent(power),
            "residual, exponential": extent(line),
            "test loss": extent(last["test_loss"]),
            "0–1 loss": extent(np.abs(1 - last["test_accuracy"])),
            "test loss of SignGD": extent(other["test_loss"]),
            "of one sign at t = 10": extent(one_sign),
        },
    )


def _exponential(loss: xr.DataArray) -> xr.DataArray:
    return loss * 0 + np.exp(-loss["time"] / 300)


CLAIMS = (
    Claim(
        id="C-GD",
        place="Section 3.2; Figures 2c and 9; Appendix B.3",
        statement="Gradient descent trains sublinearly and more slowly than SignGD, "
        "aligns no signs, leaves attention at one half for hundreds of steps, and "
        "generalises.",
        system="full-batch gradient descent on all weights, compared with SignGD",
        needs=NEEDS,
        judge=_judge,
        predicate="learning rate 0.1: a power law fits the loss from t = 1000 to 2000 "
        "better than an exponential; at t = 2000 the loss is above SignGD's and the "
        "test loss below 0.1 (SignGD's above 0.4); 40% to 60% of pairs have key and "
        "query noise of the same sign at t = 10; |s21 − 1/2| is at most 0.1 at t = "
        "600. At learning rate 1e-4 the loss is above 0.65 at t = 2000. All in 90% of "
        "seeds",
        expected=Verdict.HOLDS,
        source="our runs, seeds 200–202",
        scope=Scope.EXPERIMENT,
        conditions=f"{SIZES_A} for SignGD; 0.1 and 1e-4 for gradient descent. Speed "
        "and test loss depend on the learning rate, which is the paper's choice",
        mutations=named(
            mutate.mapped("loss exponential", "gd", "loss", _exponential),
            mutate.add("gd", "test_loss", 0.2),
            mutate.mapped("noise positive", "gd", ("key_neuron", "query_neuron"), abs),
            mutate.scale("slow", "loss", 0.5),
        ),
    ),
)
