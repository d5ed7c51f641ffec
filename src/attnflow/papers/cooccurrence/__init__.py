"""Word co-occurrence: a softmax head and a linear MLP learn it in two phases."""

from attnflow.papers.base import Paper, texts_of
from attnflow.papers.cooccurrence.conditions import conditions
from attnflow.papers.cooccurrence.settings import RECIPES
from attnflow.papers.cooccurrence.stages import stage_table

PAPER = Paper(
    slug="cooccurrence",
    letter="A",
    title=(
        "Training Dynamics of Transformers to Recognize Word Co-occurrence via "
        "Gradient Flow Analysis"
    ),
    version_read="arXiv 2410.09605 (NeurIPS 2024), read as text extracted from it",
    recipes=RECIPES,
    exhibits="attnflow.papers.cooccurrence.exhibits:EXHIBITS",
    claims="attnflow.papers.cooccurrence.claims:CLAIMS",
    headline="overview",
    headline_claims=(
        "A-joint-fig1",
        "A-frozen-fig1",
        "A-frozen",
        "A-Thm3.1-i2",
        "A-Thm3.1-T1",
        "A-bump",
        "A-L4.4",
        "A-L4.7-sign",
        "A-Thm3.3-train",
        "A-Thm3.3-test",
        "A-R4",
    ),
    summary=(
        "A one-layer transformer with one softmax head and a linear MLP must decide "
        "whether two target tokens are both present. First, in a time that shrinks "
        "like 1/m, only the readouts of tokens move, until every sample is classified "
        "correctly. Then, in a long second phase, the loss falls like 1/t, attention "
        "between the two targets rises, and the logistic weights of the types of "
        "samples keep fixed proportions. We find that these proportions are the dual "
        "variables of a hard-margin classifier of token counts. Attention itself "
        "hardly matters: with keys and queries frozen, Figure 1's loss ends 1 to 2% "
        "higher, and under the theory's scales attention's share of the loss's "
        "decrease is Õ(1/m²)."
    ),
    stage_table=stage_table,
    maps="attnflow.papers.cooccurrence.swept_maps:MAPS",
    statistics="attnflow.papers.cooccurrence.statistics:STATISTICS",
    conditions=conditions,
    **texts_of(__name__),
)
