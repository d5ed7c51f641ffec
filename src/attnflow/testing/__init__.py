"""What every paper must pass, ours and yours: protocols, and the fixtures they use.

In the `conftest.py` of your tests:

    pytest_plugins = ["attnflow.testing"]

and in a test module, with the paper under the name `PAPER`:

    from attnflow.testing import ClaimProtocol, ExhibitProtocol, TextProtocol, frozen
    from needle import PAPER

    class TestClaims(ClaimProtocol):
        pass

    class TestExhibits(ExhibitProtocol):
        changes = (frozen,)

    class TestTexts(TextProtocol):
        labels = ("Theorem 1", "Figure 1")

Names of subclasses begin with `Test`, so that pytest finds them. This is the one
place in attnflow that needs pytest.
"""

from attnflow.testing.changes import another_clock as another_clock
from attnflow.testing.changes import frozen as frozen
from attnflow.testing.changes import reordered as reordered
from attnflow.testing.changes import replaced as replaced
from attnflow.testing.fixtures import evidence_of as evidence_of
from attnflow.testing.fixtures import judging as judging
from attnflow.testing.fixtures import paper as paper
from attnflow.testing.fixtures import pytest_configure as pytest_configure
from attnflow.testing.fixtures import pytest_generate_tests as pytest_generate_tests
from attnflow.testing.fixtures import runner as runner
from attnflow.testing.fixtures import runner_of as runner_of
from attnflow.testing.fixtures import store_of_its_own as store_of_its_own
from attnflow.testing.protocols import ClaimProtocol as ClaimProtocol
from attnflow.testing.protocols import ExhibitProtocol as ExhibitProtocol
from attnflow.testing.protocols import OpenSeeds as OpenSeeds
from attnflow.testing.protocols import TextProtocol as TextProtocol
from attnflow.testing.protocols import check_claim as check_claim
from attnflow.testing.protocols import check_unchanged as check_unchanged
