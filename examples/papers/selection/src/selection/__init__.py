"""Benign overfitting in token selection."""

from attnflow import Paper, texts_of
from selection.claims import CLAIMS
from selection.figures import EXHIBITS
from selection.settings import RECIPES

PAPER = Paper(
    slug="selection",
    letter="Sel",
    title="Benign overfitting in token selection of attention mechanism",
    version_read="ICML 2025, by the equations of the authors' program",
    recipes=RECIPES,
    exhibits=EXHIBITS,
    claims=CLAIMS,
    headline="attention",
    headline_claims=("Sel-fit",),
    summary="A prompt fits wrong labels by attention to noise, and still generalises.",
    **texts_of(__name__),
)
