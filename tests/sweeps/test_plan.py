"""Batches: every cell once, fixed membership, addresses that tell what differs."""

import random

import pytest

from attnflow.sweeps import make_batches, parse_statistic, sweep_id
from attnflow.sweeps.sweep import plan_sweep
from tests.sweeps.trivial import Direct, make_sweep


def random_sweep(generator, **options):
    overrides = {
        "a": [float(n) for n in range(generator.randint(1, 9))],
        "b": list(range(generator.randint(1, 9))),
        "width": [1, 2, "infinite"][: generator.randint(1, 3)],
    }
    keys = generator.sample(list(overrides), generator.randint(0, 3))
    size = generator.randint(1, 12)
    return make_sweep({k: overrides[k] for k in keys}, **{"size": size, **options})


def test_every_cell_is_in_one_batch_that_is_not_too_large():
    generator = random.Random(2)
    for _ in range(100):
        sweep = random_sweep(generator)
        batches = make_batches(sweep)
        cells = [cell for batch in batches for cell in batch.cells]
        assert sorted(cells) == sweep.cells.tolist()
        assert all(0 < len(batch) <= sweep.size for batch in batches)
        assert len({batch.key for batch in batches}) == len(batches)
        for batch in batches:
            assert batch.rows == tuple(sweep.row(cell) for cell in batch.cells)


def test_cells_of_one_shape_stand_together():
    sweep = make_sweep({"a": "0..1:10", "b": "1,2"}, size=5)
    for batch in make_batches(sweep):
        assert len({row[1] for row in batch.rows}) == 1
    # Small groups share a batch, and a group is not torn where it need not be.
    small = make_batches(make_sweep({"a": "0..1:3", "b": [*range(7)]}, size=8))
    assert [len(batch) for batch in small] == [6, 6, 6, 3]
    # Large ones are cut into parts of one length, for which one program is compiled.
    large = make_batches(make_sweep({"a": "0..1:100"}, size=33))
    assert [len(batch) for batch in large] == [25, 25, 25, 25]


def test_a_batch_has_the_same_address_in_a_sweep_of_its_cells_alone():
    whole = make_sweep({"a": "0..1:10", "b": "1,2"}, size=5)
    batch = make_batches(whole)[1]
    part = make_sweep({"a": "0..1:10", "b": "1,2"}, size=5, subset=batch.cells)
    assert make_batches(part) == [batch]
    assert sweep_id(part) != sweep_id(whole)


def test_addresses_tell_what_differs():
    def address(overrides=None, **options):
        (batch,) = make_batches(make_sweep(overrides or {"a": "1,2"}, **options))
        return batch.key

    others = [
        address(),
        address({"a": "1,3"}),
        address({"a": "1,2", "b": "3"}),
        address({"a": "1,2", "b": [2]}),
        address(seeds=(0,)),
        address(seeds=(1, 0)),
        address(statistics=(Direct(), parse_statistic("half"))),
        address(statistics=(Direct(text="other"),)),
    ]
    assert len(set(others)) == len(others)
    assert address() == others[0]


def test_no_axes_are_one_cell():
    sweep = make_sweep({})
    assert [batch.rows for batch in make_batches(sweep)] == [((),)]


def test_a_batch_without_cells_is_refused():
    with pytest.raises(ValueError, match="A batch of 0 cells"):
        make_sweep({"a": "1,2"}, size=0)


def test_what_cells_share_may_lack_what_is_swept():
    overrides = {"rule": "flow,gd", "learning_rate": "0.1,0.2"}
    assert plan_sweep("mix/mixture", overrides).shape == (2, 2)
    with pytest.raises(ValueError, match="is not used by rule=flow"):
        plan_sweep("mix/mixture", {**overrides, "rule": "flow"})
