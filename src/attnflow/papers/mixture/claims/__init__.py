"""All claims of `mixture`, by theme."""

from attnflow.claims import Claim
from attnflow.papers.mixture.claims.attention import ATTENTION
from attnflow.papers.mixture.claims.construction import CONSTRUCTION
from attnflow.papers.mixture.claims.experiments import EXPERIMENTS
from attnflow.papers.mixture.claims.grid import GRID
from attnflow.papers.mixture.claims.kink import KINK
from attnflow.papers.mixture.claims.margin import MARGIN
from attnflow.papers.mixture.claims.mixtures import MIXTURES
from attnflow.papers.mixture.claims.other_settings import OTHER_SETTINGS
from attnflow.papers.mixture.claims.reductions import REDUCTIONS
from attnflow.papers.mixture.claims.signs import SIGNS_IN_STAGE_TWO
from attnflow.papers.mixture.claims.stage_one import STAGE_ONE
from attnflow.papers.mixture.claims.stage_three import STAGE_THREE
from attnflow.papers.mixture.claims.stage_two import STAGE_TWO
from attnflow.papers.mixture.claims.start_rates import START
from attnflow.papers.mixture.claims.symmetry import SYMMETRY
from attnflow.papers.mixture.claims.updates import UPDATES
from attnflow.papers.mixture.claims.width import WIDTH

CLAIMS: tuple[Claim, ...] = (
    *STAGE_ONE,
    *STAGE_TWO,
    *START,
    *UPDATES,
    *STAGE_THREE,
    *SYMMETRY,
    *ATTENTION,
    *SIGNS_IN_STAGE_TWO,
    *OTHER_SETTINGS,
    *KINK,
    *MARGIN,
    *WIDTH,
    *EXPERIMENTS,
    *MIXTURES,
    *GRID,
    *CONSTRUCTION,
    *REDUCTIONS,
)
