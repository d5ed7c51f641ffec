"""Maps over settings that a paper declares: swept, drawn under the theory's curves."""

from attnflow.figures.swept.map import Curve as Curve
from attnflow.figures.swept.map import Level as Level
from attnflow.figures.swept.map import Map as Map
from attnflow.figures.swept.map import boundary as boundary
from attnflow.figures.swept.map import share_on_side as share_on_side
from attnflow.figures.swept.rate_map import RateMap as RateMap
from attnflow.figures.swept.rate_map import left_over_stable as left_over_stable
