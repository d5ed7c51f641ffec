"""Figures of `vit`: the paper's in its order, then ours."""

from attnflow.papers.vit.figures.control import CONTROL
from attnflow.papers.vit.figures.digit_images import FIGURE2AB
from attnflow.papers.vit.figures.digit_map import FIGURE2C
from attnflow.papers.vit.figures.dynamics import FIGURE3, FIGURE4
from attnflow.papers.vit.figures.figure1 import FIGURE1A, FIGURE1B
from attnflow.papers.vit.figures.loss_and_error import LOSS_AND_ERROR
from attnflow.papers.vit.figures.readings import READINGS
from attnflow.papers.vit.figures.sharp import SHARP
from attnflow.papers.vit.figures.stage_order import STAGE_ORDER
from attnflow.schema.declarations import Exhibit

EXHIBITS: tuple[Exhibit, ...] = (
    FIGURE1A,
    FIGURE1B,
    READINGS,
    FIGURE2AB,
    FIGURE2C,
    FIGURE3,
    FIGURE4,
    CONTROL,
    SHARP,
    STAGE_ORDER,
    LOSS_AND_ERROR,
)
