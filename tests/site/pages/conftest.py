import pytest

from tests.figures.runs import make_run


@pytest.fixture
def evidence():
    return {"run": make_run()}
