"""In-context learning in linear attention."""

from attnflow import Paper, texts_of
from linear_icl.claims import CLAIMS
from linear_icl.figures import EXHIBITS
from linear_icl.settings import RECIPES

PAPER = Paper(
    slug="linear_icl",
    letter="Lin",
    title="Training dynamics of in-context learning in linear attention",
    version_read="ICML 2025, by the equations of the authors' program",
    recipes=RECIPES,
    exhibits=EXHIBITS,
    claims=CLAIMS,
    headline="losses",
    headline_claims=("Lin-plateaus",),
    summary="Merged weights learn at once, separate ones direction by direction.",
    **texts_of(__name__),
)
