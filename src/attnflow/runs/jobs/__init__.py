"""Work that needs runs, shared out: each run is made once, then what waits for it."""

from attnflow.runs.jobs.code import code_digest as code_digest
from attnflow.runs.jobs.drive import answers as answers
from attnflow.runs.jobs.make import MakeRun as MakeRun
from attnflow.runs.jobs.make import runner_of as runner_of
from attnflow.runs.jobs.plan import Needs as Needs
from attnflow.runs.jobs.plan import Plan as Plan
from attnflow.runs.jobs.plan import described as described
from attnflow.runs.jobs.plan import make_plan as make_plan
from attnflow.runs.jobs.plan import past_costs as past_costs
from attnflow.runs.jobs.plan import pick as pick
from attnflow.runs.jobs.work import Job as Job
