"""Exhibits of `scansnap`: the headlines, then in the paper's order, then ours."""

from attnflow.papers.scansnap.figures.decomposition import DECOMPOSITION_FIGURE
from attnflow.papers.scansnap.figures.figure3 import FIGURE3
from attnflow.papers.scansnap.figures.figure6 import FIGURE6
from attnflow.papers.scansnap.figures.figure8 import FIGURE8
from attnflow.papers.scansnap.figures.figure9 import FIGURE9
from attnflow.papers.scansnap.figures.recall import FIGURE11, FIGURE12
from attnflow.papers.scansnap.figures.scaling import SCALING
from attnflow.papers.scansnap.figures.syn_small import (
    FIGURE4_LEFT,
    FIGURE4_RIGHT,
    FIGURE5,
)
from attnflow.papers.scansnap.figures.systems import SYSTEMS_FIGURE
from attnflow.papers.scansnap.figures.text_maps import FIGURE7
from attnflow.papers.scansnap.figures.text_rates import FIGURE10
from attnflow.papers.scansnap.figures.training_map import TRAINING_MAP
from attnflow.schema.declarations import Exhibit

EXHIBITS: tuple[Exhibit, ...] = (
    FIGURE3,
    TRAINING_MAP,
    FIGURE4_LEFT,
    FIGURE4_RIGHT,
    FIGURE5,
    FIGURE6,
    FIGURE7,
    FIGURE8,
    FIGURE9,
    FIGURE10,
    FIGURE11,
    FIGURE12,
    DECOMPOSITION_FIGURE,
    SYSTEMS_FIGURE,
    SCALING,
)
