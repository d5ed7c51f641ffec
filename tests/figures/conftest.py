import pytest

from tests.figures.runs import make_run


@pytest.fixture
def run():
    return make_run()


@pytest.fixture
def panel():
    from attnflow.figures import panels

    _, axes = panels()
    return axes[0, 0]
