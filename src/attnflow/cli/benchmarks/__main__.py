"""The process in which one benchmark is measured."""

import sys

from attnflow.cli.benchmarks.harness import worker

worker(*sys.argv[1:])
