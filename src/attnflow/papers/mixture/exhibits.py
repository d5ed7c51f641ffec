"""All figures of `mixture`: the paper's nine, an overview, and five of ours."""

from attnflow.papers.mixture.figures.attention_maps import FIGURE2
from attnflow.papers.mixture.figures.attention_only import FIGURE3
from attnflow.papers.mixture.figures.closed_form import STAGE1
from attnflow.papers.mixture.figures.grid import GRID
from attnflow.papers.mixture.figures.groups import FIGURE5, FIGURE6, FIGURE7
from attnflow.papers.mixture.figures.overview import OVERVIEW
from attnflow.papers.mixture.figures.scores import FIGURE1C, FIGURE4
from attnflow.papers.mixture.figures.stage_three import STAGE3
from attnflow.papers.mixture.figures.stage_two import STAGE2
from attnflow.papers.mixture.figures.training import FIGURE1A, FIGURE1B
from attnflow.papers.mixture.figures.widths import WIDTH
from attnflow.schema.declarations import Exhibit

EXHIBITS: tuple[Exhibit, ...] = (
    OVERVIEW,
    FIGURE1A,
    FIGURE1B,
    FIGURE1C,
    FIGURE2,
    FIGURE3,
    FIGURE4,
    FIGURE5,
    FIGURE6,
    FIGURE7,
    GRID,
    STAGE1,
    STAGE2,
    STAGE3,
    WIDTH,
)
