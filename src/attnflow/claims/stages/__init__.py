"""Detectors on recorded series: when something happened, or why it did not."""

from attnflow.claims.stages.detect import Detected as Detected
from attnflow.claims.stages.detect import all_crossed as all_crossed
from attnflow.claims.stages.detect import crossing as crossing
from attnflow.claims.stages.detect import extreme as extreme
from attnflow.claims.stages.detect import plateau_end as plateau_end
from attnflow.claims.stages.detect import settling as settling
from attnflow.claims.stages.events import Event as Event
from attnflow.claims.stages.events import extreme_time as extreme_time
from attnflow.claims.stages.events import first_all as first_all
from attnflow.claims.stages.events import first_crossing as first_crossing
from attnflow.claims.stages.events import last_crossing as last_crossing
from attnflow.claims.stages.events import plateau_left as plateau_left
from attnflow.claims.stages.events import settled as settled
from attnflow.claims.stages.looks import Look as Look
from attnflow.claims.stages.looks import listening as listening
from attnflow.claims.stages.ordering import Order as Order
from attnflow.claims.stages.ordering import order as order
from attnflow.claims.stages.select import Selector as Selector
from attnflow.claims.stages.select import parse_selector as parse_selector
from attnflow.claims.stages.select import quantile as quantile
from attnflow.claims.stages.select import select as select
from attnflow.claims.stages.table import StageRow as StageRow
from attnflow.claims.stages.table import StageRule as StageRule
from attnflow.claims.stages.table import stage_table as stage_table
