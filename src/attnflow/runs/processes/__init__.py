"""Work in processes of this machine, one core and one thread each."""

from attnflow.runs.processes.left import time_left as time_left
from attnflow.runs.processes.machine import cores as cores
from attnflow.runs.processes.machine import pin as pin
from attnflow.runs.processes.machine import worker_environment as worker_environment
from attnflow.runs.processes.pool import Here as Here
from attnflow.runs.processes.pool import Pool as Pool
from attnflow.runs.processes.pool import Trouble as Trouble
