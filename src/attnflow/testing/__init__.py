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

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
