"""Maps over settings that a paper declares: swept, drawn under the theory's curves."""

from attnflow.figures.swept.declare import Curve as Curve
from attnflow.figures.swept.declare import Level as Level
from attnflow.figures.swept.declare import Map as Map
from attnflow.figures.swept.numbers import boundary as boundary
from attnflow.figures.swept.numbers import share_on_side as share_on_side
from attnflow.figures.swept.rates import RateMap as RateMap
from attnflow.figures.swept.rates import left_over_stable as left_over_stable
