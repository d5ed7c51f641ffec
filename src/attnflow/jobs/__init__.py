"""Work that needs runs, shared out: each run is made once, then what waits for it."""

from attnflow.jobs.code import code_digest as code_digest
from attnflow.jobs.drive import answers as answers
from attnflow.jobs.make import MakeRun as MakeRun
from attnflow.jobs.make import runner_of as runner_of
from attnflow.jobs.plan import Needs as Needs
from attnflow.jobs.plan import Plan as Plan
from attnflow.jobs.plan import described as described
from attnflow.jobs.plan import make_plan as make_plan
from attnflow.jobs.plan import past_costs as past_costs
from attnflow.jobs.plan import pick as pick
from attnflow.jobs.work import Job as Job
