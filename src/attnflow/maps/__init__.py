"""Maps over settings that a paper declares: swept, drawn under the theory's curves."""

from attnflow.maps.declare import Curve as Curve
from attnflow.maps.declare import Level as Level
from attnflow.maps.declare import Map as Map
from attnflow.maps.numbers import boundary as boundary
from attnflow.maps.numbers import share_on_side as share_on_side
from attnflow.maps.rates import RateMap as RateMap
from attnflow.maps.rates import left_over_stable as left_over_stable
