"""Any task with any parts of a model and any rule, as an experiment."""

from attnflow.mixing.build import mix as mix
from attnflow.mixing.recipes import MIX as MIX
