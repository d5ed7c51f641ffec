"""The figures of `cooccurrence`, the paper's own first."""

from attnflow.paper import Exhibit
from attnflow.papers.cooccurrence.figures.balancing import BALANCING
from attnflow.papers.cooccurrence.figures.figure1 import FIGURE1A, FIGURE1B
from attnflow.papers.cooccurrence.figures.overview import OVERVIEW
from attnflow.papers.cooccurrence.figures.phases import PHASES

EXHIBITS: tuple[Exhibit, ...] = (OVERVIEW, FIGURE1A, FIGURE1B, PHASES, BALANCING)
