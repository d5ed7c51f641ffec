"""The figures and tables of `signgd`, the headline first, then the paper's order."""

from attnflow.paper import Exhibit
from attnflow.papers.signgd.figures.figure1 import FIGURE1
from attnflow.papers.signgd.figures.overview import OVERVIEW
from attnflow.papers.signgd.figures.table2 import TABLE2

EXHIBITS: tuple[Exhibit, ...] = (OVERVIEW, FIGURE1, TABLE2)
