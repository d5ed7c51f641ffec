"""Numbers measured on arrays, by numpy and scipy alone."""

from attnflow.measures.boundary import Boundary as Boundary
from attnflow.measures.boundary import agreement as agreement
from attnflow.measures.boundary import best_constant as best_constant
from attnflow.measures.boundary import crossings as crossings
from attnflow.measures.boundary import fit_boundary as fit_boundary
from attnflow.measures.hard_margin import HardMargin as HardMargin
from attnflow.measures.hard_margin import hard_margin as hard_margin
from attnflow.measures.margin import Margin as Margin
from attnflow.measures.margin import max_margin as max_margin
from attnflow.measures.partial_maps import fill_rows as fill_rows
from attnflow.measures.partial_maps import fit_partial as fit_partial
from attnflow.measures.partial_maps import nearest as nearest
from attnflow.measures.proportions import clopper_pearson as clopper_pearson
from attnflow.measures.proportions import confidence_sequence as confidence_sequence
from attnflow.measures.proportions import lower_bound as lower_bound
from attnflow.measures.proportions import upper_bound as upper_bound
from attnflow.measures.relu import Pattern as Pattern
from attnflow.measures.relu import relu_patterns as relu_patterns
from attnflow.measures.separation import Separation as Separation
from attnflow.measures.separation import linear_separable as linear_separable
from attnflow.measures.slopes import Line as Line
from attnflow.measures.slopes import bootstrap_slope as bootstrap_slope
from attnflow.measures.slopes import fit_line as fit_line
from attnflow.measures.slopes import log_log_line as log_log_line
from attnflow.measures.slopes import semi_log_line as semi_log_line
