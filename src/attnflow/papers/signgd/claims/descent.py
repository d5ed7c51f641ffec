"""Claim on gradient descent (Section 3.2): slower than SignGD, and it generalises."""

from __future__ import annotations

from functools import partial

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims import fits
from attnflow.papers.signgd.claims.statistics import TABLES, at
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

NEEDS = {
    **ev.A_FEW,
    "gd": Request("gd", seeds=ev.FEW),
    "slow": Request("gd-slow", seeds=ev.FEW),
}
END = 2000.0


def _last(name: str, run: xr.Dataset) -> xr.DataArray:
    return at(run, END, name)[name]


def _over_signgd(run: xr.Dataset, signgd: xr.Dataset) -> xr.DataArray:
    return _last("loss", run) / _last("loss", signgd)


def _of_one_sign(run: xr.Dataset) -> xr.DataArray:
    return series.aligned(at(run, 10.0, "key_neuron", "query_neuron"))


def _from_half(run: xr.Dataset) -> xr.DataArray:
    return abs(series.noise_to_signal(at(run, 600.0, "attention")) - 0.5)


_gd = {"unit": "difference", "of": ("gd",)}
CLAIMS = (
    c.Claim(
        id="C-GD",
        place="Section 3.2; Figures 2c and 9; Appendix B.3",
        statement="Gradient descent trains sublinearly and more slowly than SignGD, "
        "aligns no signs, leaves attention at one half for hundreds of steps, and "
        "generalises.",
        under=(),
        kind=c.Kind.OBSERVATION,
        system="full-batch gradient descent on all weights, compared with SignGD",
        needs=NEEDS,
        judge=c.All(
            (
                c.AtMost(
                    "residual of a power law over that of an exponential",
                    partial(fits.power_over_exponential, 1000),
                    1.0,
                    of=("gd",),
                ),
                c.AtLeast(
                    "loss over SignGD's",
                    _over_signgd,
                    1.0,
                    together=True,
                    of=("gd", "a"),
                ),
                c.AtLeast(
                    "loss at rate 1e-4",
                    partial(_last, "loss"),
                    0.65,
                    unit="difference",
                    of=("slow",),
                ),
                c.AtMost("test loss", partial(_last, "test_loss"), 0.1, **_gd),
                c.AtLeast(
                    "test loss of SignGD",
                    partial(_last, "test_loss"),
                    0.4,
                    unit="difference",
                    of=("a",),
                ),
                c.Near("pairs of one sign at t = 10", _of_one_sign, 0.5, 0.1, **_gd),
                c.AtMost("|s21 − 1/2| at t = 600", _from_half, 0.1, **_gd),
            )
        ),
        predicate=(
            "losses at t = 2000, fits from t = 1000 on, at learning rate 0.1 unless "
            "another is named"
        ),
        expected=c.Verdict.HOLDS,
        source="our runs, seeds 200–202",
        settings=f"{ev.ROW_A} for SignGD; 0.1 and 1e-4 for gradient descent. Speed and "
        "test loss depend on the learning rate, which is the paper's choice",
        mutations=c.named(mutate.mapped("noise positive", "gd", TABLES, abs)),
        inert=dict.fromkeys(
            TABLES,
            (
                "half of the pairs have key and query noise of one sign under all "
                "generated changes"
            ),
        ),
        survives={"holes": "the unknown records lie between t = 10 and t = 600"},
    ),
)
