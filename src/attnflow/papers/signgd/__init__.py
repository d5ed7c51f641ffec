"""Two-layer transformers trained with SignGD: four stages of training (paper C)."""

from attnflow.papers.base import Paper, texts_of
from attnflow.papers.signgd.conditions import conditions
from attnflow.papers.signgd.settings import RECIPES
from attnflow.papers.signgd.stages import stage_table

PAPER = Paper(
    slug="signgd",
    letter="C",
    title=(
        "On the Optimization and Generalization of Two-layer Transformers with Sign "
        "Gradient Descent"
    ),
    version_read="arXiv 2410.04870 (ICLR 2025), read as text extracted from it",
    recipes=RECIPES,
    exhibits="attnflow.papers.signgd.exhibits:EXHIBITS",
    claims="attnflow.papers.signgd.claims:CLAIMS",
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
        "A two-layer transformer, softmax attention below a fixed linear layer, is "
        "trained with sign gradient descent on samples of one signal and one sparse "
        "noise token. First the values of noise grow; then each neuron's key and query "
        "noise align in sign; then these signs vote on the signs of the neuron's query "
        "and key signals; then attention to the signal collapses, and the outvoted "
        "keys, and later the outvoted queries, turn to the majority. Values and "
        "attention both memorise noise, the training loss falls exponentially, and the "
        "test loss stays of order 1. Gradients underflow long before their signs cease "
        "to matter: here every sign is exact."
    ),
    stage_table=stage_table,
    maps="attnflow.papers.signgd.swept_maps:MAPS",
    statistics="attnflow.papers.signgd.statistics:STATISTICS",
    conditions=conditions,
    **texts_of(__name__),
)
