"""A new paper as a package of its own: small, complete, and passing its tests."""

from attnflow.cli.scaffold.names import Names as Names
from attnflow.cli.scaffold.names import names_of as names_of
from attnflow.cli.scaffold.write import write_paper as write_paper
