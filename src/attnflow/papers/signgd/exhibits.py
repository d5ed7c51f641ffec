"""All figures and tables of `signgd`: the headline, then in the paper's order."""

from attnflow.papers.signgd.figures.betas import FIGURE16, FIGURE17
from attnflow.papers.signgd.figures.deep_courses import FIGURE14, FIGURE15
from attnflow.papers.signgd.figures.four_stages import FIGURE1, FIGURES3TO6
from attnflow.papers.signgd.figures.lattice import LATTICE_FIGURE
from attnflow.papers.signgd.figures.long_samples import FIGURE10, FIGURE11, FIGURE12
from attnflow.papers.signgd.figures.noisy_digits import FIGURE2D
from attnflow.papers.signgd.figures.optimisers import FIGURE2, LOSSES
from attnflow.papers.signgd.figures.optimisers_dense import FIGURE7, FIGURE8, FIGURE9
from attnflow.papers.signgd.figures.sign_tables import TABLE2, TABLES4TO11
from attnflow.papers.signgd.figures.signs import SIGNS
from attnflow.papers.signgd.figures.timeline import FIGURE19
from attnflow.papers.signgd.figures.whole import FIGURE13, FIGURE18, OVERVIEW
from attnflow.schema.declarations import Exhibit

EXHIBITS: tuple[Exhibit, ...] = (
    OVERVIEW,
    FIGURE1,
    TABLE2,
    FIGURE2,
    FIGURE2D,
    *FIGURES3TO6,
    FIGURE7,
    FIGURE8,
    FIGURE9,
    FIGURE10,
    FIGURE11,
    FIGURE12,
    FIGURE13,
    FIGURE14,
    FIGURE15,
    *TABLES4TO11,
    FIGURE16,
    FIGURE17,
    FIGURE18,
    FIGURE19,
    LOSSES,
    SIGNS,
    LATTICE_FIGURE,
)
