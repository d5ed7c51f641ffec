"""Room in the plans of forms over coordinates."""

import numpy as np
import pytest

from attnflow.models.forms.column_maps import expected_plan


@pytest.mark.parametrize("rate", [0.3, 5.0, 1000.0])
def test_random_supports_fit_into_the_expected_plan(rate):
    tokens, coordinates = int(4 * rate) + 20, 2000
    plan = expected_plan(rate, coordinates, tokens)
    assert len(plan) <= tokens and list(plan) == sorted(plan, reverse=True)
    draw = np.random.default_rng(0)
    for _ in range(20):
        degree = (draw.random((tokens, coordinates)) < rate / tokens).sum(axis=0)
        counts = [(degree > k).sum() for k in range(degree.max())]
        # 2.5 deviations are exceeded in less than one of a hundred.
        over = [count > room for count, room in zip(counts, plan, strict=False)]
        assert np.mean(over) < 0.2
