"""How a claim came to its verdict: words, code, numbers, and a picture."""

from attnflow.site.explain.explanation import Explanation as Explanation
from attnflow.site.explain.explanation import explain as explain
from attnflow.site.explain.picture import draw_claim as draw_claim
