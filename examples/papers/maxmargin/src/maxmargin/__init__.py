"""Max-margin token selection."""

from attnflow import Paper, texts_of
from maxmargin.claims import CLAIMS
from maxmargin.figures import EXHIBITS
from maxmargin.settings import RECIPES

PAPER = Paper(
    slug="maxmargin",
    letter="Margin",
    title="Max-margin token selection in attention mechanism",
    version_read="NeurIPS 2023, by the equations of the authors' program",
    recipes=RECIPES,
    exhibits=EXHIBITS,
    claims=CLAIMS,
    headline="direction",
    headline_claims=("Margin-normalised",),
    summary="A prompt grows along the direction that separates the best tokens.",
    **texts_of(__name__),
)
