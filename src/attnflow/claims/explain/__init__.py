"""How a claim came to its verdict: words, code, numbers, and a picture."""

from attnflow.claims.explain.explanation import Explanation as Explanation
from attnflow.claims.explain.explanation import explain as explain
from attnflow.figures.explain.picture import draw_claim as draw_claim
