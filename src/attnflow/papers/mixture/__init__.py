"""Paper B: two-mixture of linear classification, learned in three stages."""

from attnflow.papers.base import Paper, texts_of
from attnflow.papers.mixture.conditions import conditions, run_conditions
from attnflow.papers.mixture.settings import RECIPES
from attnflow.papers.mixture.stages import stage_table

PAPER = Paper(
    slug="mixture",
    letter="B",
    title=(
        "Transformers Provably Learn Two-Mixture of Linear Classification via Gradient "
        "Flow"
    ),
    version_read=(
        "Anonymous draft under double-blind review, read as text extracted from it"
    ),
    recipes=RECIPES,
    exhibits="attnflow.papers.mixture.exhibits:EXHIBITS",
    claims="attnflow.papers.mixture.claims:CLAIMS",
    headline="overview",
    headline_claims=(
        "B-Sec3-order",
        "B-Thm4.1-T1",
        "B-D.3",
        "B-L5.4",
        "B-L5.4-feature",
        "B-Thm4.1-T2",
        "B-Thm4.1-T3",
        "B-Thm4.1-conc",
        "B-E.5",
    ),
    summary=(
        "A one-layer transformer with two heads must learn which of its tokens decides "
        "a sample's label: the class token of the group that another token names. It "
        "learns in stages: first the neurons, which suffices where all signs agree; "
        "then, after a long plateau, attention, which is needed where they conflict. "
        "At infinite width the paper proves that the plateau lasts O(log 1/ω) and "
        "convergence takes O(1/ε). With more than two groups the bias decides: with "
        "four groups, five tokens and b = 1/2 a group token learns to repel its own "
        "class token."
    ),
    stage_table=stage_table,
    maps="attnflow.papers.mixture.swept_maps:MAPS",
    conditions=conditions,
    run_conditions=run_conditions,
    **texts_of(__name__),
)
