"""Benign and harmful overfitting of a two-layer transformer on noisy patches."""

from attnflow.papers.base import Paper, texts_of
from attnflow.papers.vit.conditions import condition_table
from attnflow.papers.vit.settings import RECIPES
from attnflow.papers.vit.stages import stage_table

PAPER = Paper(
    slug="vit",
    letter="D",
    title=(
        "Unveil Benign Overfitting for Transformer in Vision: Training Dynamics, "
        "Convergence, and Generalization"
    ),
    version_read="NeurIPS 2024 (arXiv 2409.19345), read as text extracted from it",
    recipes=RECIPES,
    exhibits="attnflow.papers.vit.exhibits:EXHIBITS",
    claims="attnflow.papers.vit.claims:CLAIMS",
    headline="figure1a",
    headline_claims=(
        "D-Fig1-slope-trained",
        "D-Fig1-const-trained",
        "D-Thm4.1-1",
        "D-Thm4.2-2",
    ),
    summary=(
        "Softmax attention, a value and a linear read-out are trained by gradient "
        "descent on samples of one signal token, one token of strong noise and some of "
        "weak noise. Values separate first; then attention becomes sparse while the "
        "loss hardly moves; then the loss falls to its target. Where N · SNR² is large "
        "the signal wins and the test loss is small, though the training set is fitted "
        "(benign overfitting); where it is small the strong noise is memorised and the "
        "test loss stays (harmful)."
    ),
    stage_table=stage_table,
    maps="attnflow.papers.vit.swept_maps:MAPS",
    conditions=condition_table,
    **texts_of(__name__),
)
