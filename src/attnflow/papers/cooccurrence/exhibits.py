"""Figures of `cooccurrence`: the overview, the paper's Figure 1, then ours."""

from attnflow.papers.cooccurrence.figures.balancing import BALANCING
from attnflow.papers.cooccurrence.figures.figure1 import FIGURE1A, FIGURE1B
from attnflow.papers.cooccurrence.figures.frozen_attention import FROZEN_ATTENTION
from attnflow.papers.cooccurrence.figures.generalisation import TEST_LOSS
from attnflow.papers.cooccurrence.figures.learning_rate import LEARNING_RATE
from attnflow.papers.cooccurrence.figures.overview import OVERVIEW
from attnflow.papers.cooccurrence.figures.phases import PHASES
from attnflow.papers.cooccurrence.figures.width_scan import WIDTH_SCAN
from attnflow.schema.declarations import Exhibit

EXHIBITS: tuple[Exhibit, ...] = (
    OVERVIEW,
    FROZEN_ATTENTION,
    FIGURE1A,
    FIGURE1B,
    PHASES,
    BALANCING,
    TEST_LOSS,
    WIDTH_SCAN,
    LEARNING_RATE,
)
