"""Two-layer transformers by sign gradient descent: four stages of training."""

from attnflow.papers.base import Paper, texts_of
from attnflow.papers.signgd.claims import CLAIMS
from attnflow.papers.signgd.conditions import conditions
from attnflow.papers.signgd.exhibits import EXHIBITS
from attnflow.papers.signgd.notes import NOTES
from attnflow.papers.signgd.settings import RECIPES
from attnflow.papers.signgd.stages import stage_table
from attnflow.papers.signgd.statistics import STATISTICS
from attnflow.papers.signgd.swept_maps import MAPS

PAPER = Paper(
    slug="signgd",
    letter="C",
    title=(
        "On the Optimization and Generalization of Two-layer Transformers with Sign "
        "Gradient Descent"
    ),
    version_read="arXiv 2410.04870 (ICLR 2025), read as text extracted from it",
    recipes=RECIPES,
    exhibits=EXHIBITS,
    claims=CLAIMS,
    notes=NOTES,
    headline="overview",
    headline_claims=(
        "C-L4.1-1",
        "C-L4.2",
        "C-L4.4-1",
        "C-L4.5",
        "C-L4.6",
        "C-L4.7",
        "C-L4.8-1",
        "C-T3.2-2",
    ),
    summary=(
        "A one-layer transformer is trained by sign gradient descent on samples of one "
        "signal and one sparse noise token. First values of noise grow; then each "
        "neuron's key and query noise take one sign; then these vote on the signs of "
        "the neuron's signals; then attention to the signal collapses, and the "
        "outvoted keys, and later queries, turn to the majority. Noise is memorised by "
        "values and attention alike, the training loss falls exponentially, and the "
        "test loss stays. Gradients underflow long before their signs cease to matter: "
        "here every sign is exact."
    ),
    stage_table=stage_table,
    maps=MAPS,
    statistics=STATISTICS,
    conditions=conditions,
    **texts_of(__name__),
)
