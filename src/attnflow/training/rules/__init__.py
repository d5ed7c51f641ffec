"""Rules of motion as plain records; `flow` and `descend` carry them out."""

from attnflow.training.rules.base import joined as joined
from attnflow.training.rules.base import split as split
from attnflow.training.rules.batches import Batches as Batches
from attnflow.training.rules.coordinates import Adam as Adam
from attnflow.training.rules.coordinates import SignGD as SignGD
from attnflow.training.rules.flow import Flow as Flow
from attnflow.training.rules.named import RULES as RULES
from attnflow.training.rules.named import SCHEDULES as SCHEDULES
from attnflow.training.rules.named import Descent as Descent
from attnflow.training.rules.named import Rule as Rule
from attnflow.training.rules.named import fitting_rule as fitting_rule
from attnflow.training.rules.named import rule_named as rule_named
from attnflow.training.rules.named import rule_of as rule_of
from attnflow.training.rules.named import schedule_named as schedule_named
from attnflow.training.rules.parts import Rules as Rules
from attnflow.training.rules.parts import per_part as per_part
from attnflow.training.rules.plain import GradientDescent as GradientDescent
from attnflow.training.rules.plain import Momentum as Momentum
from attnflow.training.rules.schedules import AbstractSchedule as AbstractSchedule
from attnflow.training.rules.schedules import CosineDecay as CosineDecay
from attnflow.training.rules.schedules import LinearDecay as LinearDecay
from attnflow.training.rules.schedules import PowerDecay as PowerDecay
from attnflow.training.rules.schedules import StepDecay as StepDecay
from attnflow.training.rules.schedules import Warmup as Warmup
from attnflow.training.rules.whole import Muon as Muon
from attnflow.training.rules.whole import NormalisedDescent as NormalisedDescent
