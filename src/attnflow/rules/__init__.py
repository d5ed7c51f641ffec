"""Rules of motion as plain records; `flow` and `descend` carry them out."""

from attnflow.rules.base import joined as joined
from attnflow.rules.base import split as split
from attnflow.rules.batches import Batches as Batches
from attnflow.rules.coordinates import Adam as Adam
from attnflow.rules.coordinates import SignGD as SignGD
from attnflow.rules.flow import Flow as Flow
from attnflow.rules.named import RULES as RULES
from attnflow.rules.named import SCHEDULES as SCHEDULES
from attnflow.rules.named import Descent as Descent
from attnflow.rules.named import Rule as Rule
from attnflow.rules.named import fitting_rule as fitting_rule
from attnflow.rules.named import rule_named as rule_named
from attnflow.rules.named import rule_of as rule_of
from attnflow.rules.named import schedule_named as schedule_named
from attnflow.rules.parts import Rules as Rules
from attnflow.rules.parts import per_part as per_part
from attnflow.rules.plain import GradientDescent as GradientDescent
from attnflow.rules.plain import Momentum as Momentum
from attnflow.rules.schedules import AbstractSchedule as AbstractSchedule
from attnflow.rules.schedules import CosineDecay as CosineDecay
from attnflow.rules.schedules import LinearDecay as LinearDecay
from attnflow.rules.schedules import PowerDecay as PowerDecay
from attnflow.rules.schedules import StepDecay as StepDecay
from attnflow.rules.schedules import Warmup as Warmup
from attnflow.rules.whole import Muon as Muon
from attnflow.rules.whole import NormalisedDescent as NormalisedDescent
