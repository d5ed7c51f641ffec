"""Work in processes of this machine, one core and one thread each."""

from attnflow.processes.left import time_left as time_left
from attnflow.processes.machine import cores as cores
from attnflow.processes.machine import pin as pin
from attnflow.processes.machine import worker_environment as worker_environment
from attnflow.processes.pool import Here as Here
from attnflow.processes.pool import Pool as Pool
from attnflow.processes.pool import Trouble as Trouble
