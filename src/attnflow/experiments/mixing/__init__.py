"""Any task with any parts of a model and any rule, as an experiment."""

from attnflow.experiments.mixing.build import mix as mix
