"""Automatic balancing: the fixed point R* of the class-weight ratio (Lemma F.6)."""

import numpy as np
import xarray as xr

from attnflow.claims import Claim, Evidence, Exact, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims import quiet
from attnflow.papers.cooccurrence.claims.evidence import NOISE_FREE, noise_free


def _root(run: xr.Dataset) -> dict[str, np.ndarray]:
    """R, R*, R' and c/a in phase 2, from margins and the readouts' velocities."""
    rows, (samples, length) = quiet.phase_two_rows(run), quiet.size_of(run)
    g = np.exp(-np.logaddexp(0, quiet.margins(rows)))
    count = samples * quiet.SHARES
    weight, bend = count * g, count * g * (1 - g)
    speed = -bend * quiet.LABELS * quiet.outputs(rows["value_rate"], length)
    a, b = bend[:, 0] + bend[:, 1], bend[:, 2] + bend[:, 3] - bend[:, 0]
    c = -bend[:, 1] - bend[:, 2] - 2 * bend[:, 0]
    upper, lower = (
        (w[:, 1:].sum(axis=1) - w[:, 0], w[:, 0] - w[:, 1]) for w in (weight, speed)
    )
    R = upper[0] / upper[1]
    return {
        "R": R,
        "root": -b / (2 * a) + np.sqrt(b**2 / (4 * a**2) - c / a),
        "rate": (lower[0] - R * lower[1]) / upper[1],
        "c / a": c / a,
    }


RESOLVED = 1e-6
"""Smallest |R − R*| whose sign is judged: o(1) terms, 16/n and m1/m, are below 1e-7.

After b0·t = 1e5 R follows its root more closely than this, and nothing is judged.
"""


def _judge_root(evidence: Evidence) -> Finding:
    many = _root(evidence["many"])
    R, root = many["R"], many["root"]
    resolved = np.abs(root - R) > RESOLVED
    agree = np.sign(many["rate"]) == np.sign(root - R)
    few = _root(evidence["few"])
    # The check is empty without points: at least five on either side of the root.
    both_sides = min((resolved & (root > R)).sum(), (resolved & (root < R)).sum())
    outside = max(0.0, 1.0 - root.min(), root.max() - 2.0)
    return Finding(
        (
            Exact(outside, 0.0, "R* outside of (1, 2)"),
            Exact(float((resolved & ~agree).sum()), 0.0, "R moves away from its root"),
            Exact(float(max(0, 5 - both_sides)), 0.0, "points that lack on a side"),
        ),
        {
            "points told apart": int(resolved.sum()),
            "R* from and to": [root[0], root[-1]],
            "c / a, largest and least": [many["c / a"].max(), many["c / a"].min()],
            "n = 600, R and R* at the end": [few["R"][-1], few["root"][-1]],
        },
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="A-F.6-root",
        place="Lemma F.6, proof",
        statement="The quadratic for R has a root R* in (1, 2), and R moves towards "
        "it: R rises below R*, and falls above.",
        system=NOISE_FREE,
        needs={
            "many": noise_free(1e9, width=10**9),
            "few": noise_free(600.0),
        },
        judge=_judge_root,
        scope=Scope.THEOREM,
        expected=Verdict.HOLDS,
        predicate="without noise at n = m = 1e9, where the proof's o(1) is below 1e-7: "
        f"at every time of phase 2 with |R − R*| > {RESOLVED:g}, R' has the sign of "
        "R* − R, at 5 points or more on either side",
        conditions="σ0 and σ1 as in the other claims; n → ∞ and m → ∞: the proof "
        "neglects fillers, which keep R below R* at n = 600 (1.4745 against 1.5008)",
        source="our runs, in which nothing is drawn. c/a is near −2 throughout, as the "
        "root formula has it, and not near 2 as printed (reader's note A-N4)",
        mutations=named(
            mutate.negate("many", "value_rate"),
            mutate.scale("many", "margin", 0.5),
            mutate.constant("many", "margin"),
        ),
    ),
)
