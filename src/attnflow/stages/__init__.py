"""Detectors on recorded series: when something happened, or why it did not."""

from attnflow.stages.detect import Detected as Detected
from attnflow.stages.detect import all_crossed as all_crossed
from attnflow.stages.detect import crossing as crossing
from attnflow.stages.detect import extreme as extreme
from attnflow.stages.detect import plateau_end as plateau_end
from attnflow.stages.detect import settling as settling
from attnflow.stages.events import Event as Event
from attnflow.stages.events import extreme_time as extreme_time
from attnflow.stages.events import first_all as first_all
from attnflow.stages.events import first_crossing as first_crossing
from attnflow.stages.events import last_crossing as last_crossing
from attnflow.stages.events import plateau_left as plateau_left
from attnflow.stages.events import settled as settled
from attnflow.stages.looks import Look as Look
from attnflow.stages.looks import listening as listening
from attnflow.stages.ordering import Order as Order
from attnflow.stages.ordering import order as order
from attnflow.stages.select import Selector as Selector
from attnflow.stages.select import parse_selector as parse_selector
from attnflow.stages.select import quantile as quantile
from attnflow.stages.select import select as select
from attnflow.stages.table import StageRow as StageRow
from attnflow.stages.table import StageRule as StageRule
from attnflow.stages.table import stage_table as stage_table
