"""The page's player under node: the bits of wasmtime."""

import base64
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import attnflow.browser.explorer as explorer
from attnflow.browser.explorer.plan import plans, stage_values
from attnflow.browser.simulate import kernels_of, simulate
from attnflow.browser.trace import stages_of
from tests.browser.node import NODE
from tests.browser.test_kernels import experiment_of

PLAYER = Path(explorer.__file__).parent / "player.js"


def play(experiment, kernels, tmp_path, turns=1, stretch=64):
    values = [
        stage_values(kernel, stage)
        for kernel, stage in zip(kernels, stages_of(experiment), strict=True)
    ]
    times = experiment.grid.times(whole=not experiment.is_flow).tolist()
    job = {"stages": plans(kernels), "times": times, "values": values, "turns": turns}
    job["stretch"] = stretch
    path = tmp_path / "job.json"
    path.write_text(json.dumps(job))
    script = str(Path(__file__).with_name("play.js"))
    done = subprocess.run(
        [NODE, script, str(PLAYER), str(path)], capture_output=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["mixture/figure1", "mixture/three-stage"])
def test_node_computes_the_bits_of_wasmtime(name, tmp_path):
    experiment = experiment_of(name)
    kernels = kernels_of(experiment)
    expected = simulate(experiment, kernels)
    result = play(experiment, kernels, tmp_path)
    assert result["ends"] == expected.ends
    records = np.frombuffer(base64.b64decode(result["records"]))
    size = kernels[0].row_size
    rows = [r.reshape(len(expected.times), -1) for r in expected.rows.values()]
    mine = np.concatenate(rows, axis=1)[expected.recorded]
    theirs = records.reshape(-1, size)
    # A stage that ends between two times records its end too, which `rows` leave out.
    kept = [row for row in theirs if any((row == other).all() for other in mine)]
    np.testing.assert_array_equal(np.unique(kept, axis=0), np.unique(mine, axis=0))


def test_how_many_records_are_asked_for_at_once_changes_nothing(tmp_path):
    """A page asks for as many as take some milliseconds, on a busy machine for one."""
    experiment = experiment_of("vit/theory-benign", target=0.69, dense=40)
    kernels = kernels_of(experiment)
    expected = simulate(experiment, kernels)
    # The event comes on a time of records, which may be the last that was asked for.
    assert expected.ends[0] in expected.times[expected.recorded][1:]
    size = 8 * kernels[0].row_size
    for stretch in (1, 2, 3, 64):
        result = play(experiment, kernels, tmp_path, stretch=stretch)
        assert result["ends"] == expected.ends
        count = len(base64.b64decode(result["records"])) / size
        assert count == expected.recorded.sum()
