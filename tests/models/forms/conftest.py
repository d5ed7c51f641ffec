from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Forms are held to plain weights at any learning rate, beyond stability too."""
    ignore = pytest.mark.filterwarnings(
        "ignore::attnflow.experiments.LearningRateWarning"
    )
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(ignore)
