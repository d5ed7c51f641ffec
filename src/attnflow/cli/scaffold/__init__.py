"""A new paper as a package of its own: small, complete, and passing its tests."""

from attnflow.cli.scaffold.package import Names as Names
from attnflow.cli.scaffold.package import names_of as names_of
from attnflow.cli.scaffold.package import write_paper as write_paper
