"""How a claim came to its verdict: words, code, numbers, and a picture."""

from attnflow.explaining.explanation import Explanation as Explanation
from attnflow.explaining.explanation import explain as explain
from attnflow.explaining.picture import draw_claim as draw_claim
