"""Numbers measured on arrays, by numpy and scipy alone."""

from attnflow.claims.statistics.boundary import Boundary as Boundary
from attnflow.claims.statistics.boundary import agreement as agreement
from attnflow.claims.statistics.boundary import best_constant as best_constant
from attnflow.claims.statistics.boundary import crossings as crossings
from attnflow.claims.statistics.boundary import fit_boundary as fit_boundary
from attnflow.claims.statistics.falls import Fall as Fall
from attnflow.claims.statistics.falls import fit_fall as fit_fall
from attnflow.claims.statistics.hard_margin import HardMargin as HardMargin
from attnflow.claims.statistics.hard_margin import hard_margin as hard_margin
from attnflow.claims.statistics.margin import Margin as Margin
from attnflow.claims.statistics.margin import max_margin as max_margin
from attnflow.claims.statistics.partial_maps import fill_rows as fill_rows
from attnflow.claims.statistics.partial_maps import fit_partial as fit_partial
from attnflow.claims.statistics.partial_maps import nearest as nearest
from attnflow.claims.statistics.proportions import clopper_pearson as clopper_pearson
from attnflow.claims.statistics.proportions import (
    confidence_sequence as confidence_sequence,
)
from attnflow.claims.statistics.proportions import lower_bound as lower_bound
from attnflow.claims.statistics.proportions import upper_bound as upper_bound
from attnflow.claims.statistics.relu import Pattern as Pattern
from attnflow.claims.statistics.relu import relu_patterns as relu_patterns
from attnflow.claims.statistics.separation import Separation as Separation
from attnflow.claims.statistics.separation import linear_separable as linear_separable
from attnflow.claims.statistics.slopes import Line as Line
from attnflow.claims.statistics.slopes import bootstrap_slope as bootstrap_slope
from attnflow.claims.statistics.slopes import fit_line as fit_line
from attnflow.claims.statistics.slopes import log_log_line as log_log_line
from attnflow.claims.statistics.slopes import semi_log_line as semi_log_line
