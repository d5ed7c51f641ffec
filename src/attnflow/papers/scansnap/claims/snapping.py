"""Claims on Theorem 4 in the scalar model C."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import (
    Claim,
    Correction,
    Evidence,
    Exact,
    Finding,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import (
    FIGURE_3_C,
    FLOW_RUN,
    NO_SEED,
    C,
    flow,
)
from attnflow.papers.scansnap.claims.statistics import scale_of, units
from attnflow.papers.scansnap.stages import attention_snap, slow_growth
from attnflow.papers.scansnap.stages.formulas import decoder_of
from attnflow.papers.scansnap.systems.decoder import Decoder

SCALES = (0.1, 0.3, 1.0, 3.0)
SCALED_C = {
    f"C, both {rate:g}": flow(
        "figure9", score_rate=rate, value_rate=rate, until=1e5 / rate
    )
    for rate in SCALES
}
SCALED_J = {
    f"J, {rate:g}": flow("figure3", score_rate=rate, value_rate=rate, until=1e5 / rate)
    for rate in SCALES
}
ONE_C = {"C": flow("figure9")}
SIZES = f"K = 10, M = 1000, one common token, C₀ = 2.352; {NO_SEED}"


def closed_forms(run: xr.Dataset) -> Decoder:
    """The decoder's closed forms at the sizes of a run."""
    decoder = decoder_of(run)
    if decoder is None:
        raise ValueError(
            "The run has value_rate=0, for which the decoder has no closed form: use a "
            "positive rate."
        )
    return decoder


def _scale(run: xr.Dataset) -> float:
    """C₀ of a run of C."""
    setting = schema.setting_of(run)
    terms = setting["classes"] - (not setting["printed"])
    return setting["scale"] or scale_of(setting, terms)


def _form(evidence: Evidence, *, printed: bool) -> Finding:
    errors = {}
    for name, run in evidence.items():
        decoder, time = closed_forms(run), run["time"].values
        form = decoder.printed_drive_integral if printed else decoder.drive_integral
        formula = form(time, _scale(run))
        drive = run["drive_integral"].isel(seed=0).values
        errors[name] = float(np.abs(drive - formula).max())
    which = "as printed" if printed else "with B(0) = 0"
    check = Exact(max(errors.values()), 1e-9, f"B {which}, largest error", True)
    return Finding((check,), {f"error {which}": errors})


def _piece(run: xr.Dataset, *, late: bool) -> tuple[np.ndarray, np.ndarray]:
    """Times over t₀' or t₀, and a piece of Equation 14, with B(0) = 0, less B."""
    decoder, time = closed_forms(run), run["time"].values[1:]
    K, M, scale = decoder.classes, decoder.vocabulary, _scale(run)
    share = 2 * ((M - 1) / M) ** 2
    if late:
        ratio = decoder.score_rate / decoder.value_rate
        inner = share * K * ratio * np.log(M * time / decoder.clock) ** 2
    else:
        inner = share / K * decoder.value_rate * decoder.score_rate * time**2
    drive = run["drive_integral"].isel(seed=0).values[1:]
    unit = decoder.snap if late else decoder.scan_end
    return time / unit, np.log1p(inner / scale) / 4 - drive


def _judge_scan(evidence: Evidence) -> Finding:
    share, error = _piece(evidence["C"], late=False)
    first, whole = (float(np.abs(error[share <= s]).max()) for s in (0.5, 1.0))
    return Finding(
        (
            Exact(first, 0.01, "error in B up to t₀'/2"),
            Exact(whole, 0.05, "error in B up to t₀'"),
        ),
        {"to t₀'/2": first, "to t₀'": whole},
    )


def _judge_snap(evidence: Evidence) -> Finding:
    share, error = _piece(evidence["C"], late=True)
    whole, later = (float(np.abs(error[share >= s]).max()) for s in (1.0, 10.0))
    return Finding(
        (
            Exact(whole, 0.05, "error in B from t₀ on"),
            Exact(later, 0.005, "error in B from 10t₀ on"),
        ),
        {"from t₀": whole, "from 10t₀": later},
    )


def _judge_scaling(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for letter, detectors in (
        ("C", (attention_snap, slow_growth)),
        ("J", (attention_snap,)),
    ):
        runs = [run for name, run in evidence.items() if name.startswith(letter)]
        for detector in detectors:
            times = np.array([detector(run).times[0] / units(run) for run in runs])
            spread = float(np.ptp(times) / times.mean())
            label = f"{letter}, {detector.__name__}"
            checks.append(Exact(spread, 1e-6, f"{label}: spread of t η_Y/K, relative"))
            numbers[label] = times.tolist()
    numbers["t₀ η_Y/K"] = closed_forms(evidence["C, both 1"]).snap / 10
    return Finding(tuple(checks), numbers)


_claim = partial(Claim, system=C, scope=Scope.THEOREM, expected=Verdict.HOLDS)
CLAIMS = (
    _claim(
        id="E-Thm4-form",
        place="Theorem 4, Equations 14, 124 and 129",
        statement="B(t) = ¼ ln(C₀ + 4Γ(t)), Γ = (η_Z/η_Y) K (M − 1)² h(t/K)²/2.",
        needs={**FIGURE_3_C, **SCALED_C},
        judge=partial(_form, printed=True),
        predicate="the formula against the model's flow, to 1e-9 at all records",
        expected=Verdict.HOLDS_CORRECTED,
        source=FLOW_RUN,
        conditions="the model is the theorem's condition: K = 10, M = 1000, nine pairs "
        f"of rates; {NO_SEED}",
        correction=Correction(
            "B(t) = ¼ ln(1 + 4Γ(t)/C₀), since B(0) = 0: the printed one is larger by ¼ "
            "ln C₀.",
            partial(_form, printed=False),
        ),
        mutations=named(
            mutate.scale("C, 1", "drive_integral", 1.0001),
            mutate.setting("C, 5", vocabulary=2000),
        ),
    ),
    _claim(
        id="E-Thm4-r1",
        place="Theorem 4, Equation 14, t < t₀'",
        statement="Up to t₀' = K ln M/η_Y, B is ¼ ln(1 + 2(M − 1)² η_Y η_Z t²/(K M² "
        "C₀)), with E-Thm4-form's constant.",
        needs=ONE_C,
        judge=_judge_scan,
        predicate="error in B at most 0.01 up to t₀'/2 and 0.05 up to t₀', where B is "
        "0.9 and 1.3",
        source=FLOW_RUN,
        conditions=SIZES,
        mutations=named(
            mutate.scale("C", "drive_integral", 0.9),
            mutate.setting("C", value_rate=2.0),
        ),
    ),
    _claim(
        id="E-Thm4-r2",
        place="Theorem 4, Equation 14, t ≥ t₀",
        statement="From t₀ = 2(1 + ω₁) K ln M/η_Y on, B is ¼ ln(1 + 2K(M − 1)² (η_Z/η_Y"
        ") ln²(M η_Y t/K)/(M² C₀)), with E-Thm4-form's constant.",
        needs=ONE_C,
        judge=_judge_snap,
        predicate="error in B at most 0.05 from t₀ on and 0.005 from 10t₀ on, where B "
        "is 1.64 and more",
        source=FLOW_RUN,
        conditions=SIZES,
        mutations=named(
            mutate.scale("C", "drive_integral", 0.9),
            mutate.setting("C", score_rate=2.0),
        ),
    ),
    _claim(
        id="E-Thm4-t0",
        place="Section 6",
        statement="The time of the transition scales as K/η_Y at fixed η_Y/η_Z.",
        system=f"{C}; and J for comparison",
        needs={**SCALED_C, **SCALED_J},
        judge=_judge_scaling,
        predicate="the time of the fastest score and that of growth slower than t, in "
        "units of K/η_Y, are the same for η_Y = 0.1 … 3, to 1e-6 (the flow's "
        "tolerance)",
        source=FLOW_RUN,
        conditions=SIZES,
        mutations=named(
            mutate.setting("C, both 3", value_rate=1.0),
            mutate.shift("J, 0.1", "score_velocity", 100.0),
        ),
    ),
)
