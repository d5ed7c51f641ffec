"""Scan and snap: training dynamics of attention in a one-layer transformer."""

from attnflow.papers.base import Paper, texts_of
from attnflow.papers.scansnap.conditions import conditions, run_conditions
from attnflow.papers.scansnap.settings import RECIPES
from attnflow.papers.scansnap.stages import stage_table

PAPER = Paper(
    slug="scansnap",
    letter="E",
    title=(
        "Scan and Snap: Understanding Training Dynamics and Token Composition in "
        "1-layer Transformer"
    ),
    version_read="NeurIPS 2023, read as text extracted from it",
    recipes=RECIPES,
    exhibits="attnflow.papers.scansnap.exhibits:EXHIBITS",
    claims="attnflow.papers.scansnap.claims:CLAIMS",
    headline="figure3",
    headline_claims=("E-Thm3-law", "E-Thm4-form", "E-Sec6-train", "E-R-6c"),
    summary=(
        "One layer of attention without positions and a decoder predict the next "
        "token. Tokens that occur for one next token alone gain attention, the more "
        "the more often they occur (scan), and tokens that occur for several lose it; "
        "then the decoder's gradient is gone and attention all but stops (snap). The "
        "paper's statements are about three dynamical systems: J, the "
        "true gradient of both tables; Q, attention under a decoder that follows its "
        "closed form; C, a scalar model of one common token. J is not Q: where the "
        "theorems' Assumption 2 is met, the common token falls 10⁻⁵ to 2·10⁻⁴ times as "
        "far in training as in the theory's system, at every η_Y/η_Z from 1 to 10⁴ and "
        "up to η_Y t/K = 10⁸ (figure training-map)."
    ),
    stage_table=stage_table,
    maps="attnflow.papers.scansnap.swept_maps:MAPS",
    conditions=conditions,
    run_conditions=run_conditions,
    **texts_of(__name__),
)
