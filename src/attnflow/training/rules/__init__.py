"""Rules of motion as plain records; `flow` and `descend` carry them out."""

from attnflow.training.rules.base import Flow as Flow
from attnflow.training.rules.descents import Adam as Adam
from attnflow.training.rules.descents import GradientDescent as GradientDescent
from attnflow.training.rules.descents import Momentum as Momentum
from attnflow.training.rules.descents import Muon as Muon
from attnflow.training.rules.descents import NormalisedDescent as NormalisedDescent
from attnflow.training.rules.descents import SignGD as SignGD
from attnflow.training.rules.names import RULES as RULES
from attnflow.training.rules.names import SCHEDULES as SCHEDULES
from attnflow.training.rules.names import Descent as Descent
from attnflow.training.rules.names import Rule as Rule
from attnflow.training.rules.names import Rules as Rules
from attnflow.training.rules.names import fitting_rule as fitting_rule
from attnflow.training.rules.names import joined as joined
from attnflow.training.rules.names import per_part as per_part
from attnflow.training.rules.names import rule_named as rule_named
from attnflow.training.rules.names import rule_of as rule_of
from attnflow.training.rules.names import schedule_named as schedule_named
from attnflow.training.rules.names import split as split
from attnflow.training.rules.schedules import AbstractSchedule as AbstractSchedule
from attnflow.training.rules.schedules import Batches as Batches
from attnflow.training.rules.schedules import CosineDecay as CosineDecay
from attnflow.training.rules.schedules import LinearDecay as LinearDecay
from attnflow.training.rules.schedules import PowerDecay as PowerDecay
from attnflow.training.rules.schedules import StepDecay as StepDecay
from attnflow.training.rules.schedules import Warmup as Warmup
