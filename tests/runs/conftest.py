import pytest

from tests.toy import make_run


@pytest.fixture
def run():
    return make_run()
