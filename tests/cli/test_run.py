import json
import os
import stat
import threading

import numpy as np
import pytest
import xarray as xr

from attnflow.cli.run import error_lines, rate_lines, sign_lines
from attnflow.runs.run_files import read_run_file
from attnflow.runs.store import Store, summarise
from tests.toy import make_run

FIELDS = {
    "id",
    "paper",
    "experiment",
    "setting",
    "form",
    "outcome",
    "stages",
    "final",
    "seconds",
    "compile_seconds",
}


def test_json(program):
    (run,) = program.json("run", "toy/flow", "width=infinite")["runs"]
    assert set(run) >= FIELDS
    assert run["setting"]["width"] == "infinite"
    assert run["outcome"] == "finished"
    assert run["stages"][0]["detected"] == 10.0
    assert run["final"] == {"loss": pytest.approx(0.1)}
    assert Store().has(run["id"])


def test_json_into_a_file_leaves_the_summary_on_stdout(program, tmp_path):
    done = program("run", "toy/flow", "--json", "run.json")
    assert done.exit_code == 0
    assert "toy/flow" in done.stdout
    (run,) = json.loads((tmp_path / "run.json").read_text())["runs"]
    assert run["paper"] == "toy"


def test_people_see_setting_form_outcome_stages_and_place(program, store_of_its_own):
    shown = program("run", "toy/flow", "--seeds", 2).stdout
    for text in (
        "setting  as declared (attnflow list toy/flow)",
        "transport: the cheapest exact form",
        "finished: The run reached its end.",
        "not reached",
        "0.255 (0.1 … 0.41)",
        "drift",
        "500 ms of it to compile",
        str(store_of_its_own),
    ):
        assert text in shown, text


def test_what_a_run_changes_in_its_setting_comes_first(program):
    shown = program("run", "toy/flow", "width=8").stdout
    assert (
        "\nsetting  width=8, otherwise as declared (attnflow list toy/flow)\n" in shown
    )
    line = program("runs").stdout.strip().splitlines()[-1]
    assert line.split()[-1] == "width=8"


def test_seeds_and_rerun(program, toy):
    program("run", "toy/flow", "--seeds", 3)
    program("run", "toy/flow", "--seeds", 3)
    assert [call["seeds"] for call in toy.calls] == [(0, 1, 2)]
    program("run", "toy/flow", "--seeds", 3, "--rerun")
    assert len(toy.calls) == 2


def test_inputs_reach_the_experiment(program, toy, tmp_path):
    np.savez(tmp_path / "mine.npz", tokens=np.eye(2))
    done = program(
        *("run", "toy/flow", "--data", "mine.npz", "--weights", "mine.npz"),
        *("--record", "loss, attention", "--at", "0,10,100", "--out", "run.nc"),
    )
    assert done.exit_code == 0, done.output
    (call,) = toy.calls
    assert str(call["data"]) == str(call["weights"]) == "mine.npz"
    assert call["at"] == [0.0, 10.0, 100.0]
    assert call["record"] == ["loss", "attention"]
    assert read_run_file(tmp_path / "run.nc").attrs["paper"] == "toy"


def test_an_animation_is_written_beside_the_run(program, toy, monkeypatch, tmp_path):
    class Frames:
        def save(self, path):
            path.write_text("frames")

    monkeypatch.setattr("attnflow.figures.animate", lambda run: Frames())
    done = program("run", "toy/flow", "--animate", "attention.gif")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "attention.gif").read_text() == "frames"
    assert "attention.gif" in done.stdout


def test_what_cannot_be_animated_is_said_before_anything_is_computed(program, toy):
    message = program.refused("run", "toy/flow", "--animate", "attention.avi")
    assert "Known: .gif, .html, .mp4" in message
    assert toy.calls == []
    message = program.refused("run", "toy/flow", "--animate", "attention.gif")
    assert "an animation shows matrices over time" in message


def test_check_reaches_the_experiment_and_is_another_run(program, toy):
    plain = program.json("run", "toy/flow")["runs"][0]
    checked = program.json("run", "toy/flow", "--check")["runs"][0]
    assert [call["check"] for call in toy.calls] == [False, True]
    assert plain["id"] != checked["id"]
    assert plain["refinement"] is None and plain["rate_threshold"] is None


def test_a_flow_says_what_is_known_of_its_error(program):
    shown = program("run", "toy/flow").stdout
    assert "A small drift alone does not bound the error: --check" in shown


CHANGES = xr.DataArray(
    [[1e-9, 3e-7], [1e-8, 2e-7]],
    dims=("seed", "observable"),
    coords={"observable": ["loss", "attention"]},
)


def test_a_checked_flow_says_where_it_changes_most():
    run = make_run().assign(
        refinement_by_observable=CHANGES, refinement=CHANGES.max("observable")
    )
    lines = error_lines(summarise(run))
    assert lines == [
        "drift of the conserved quantities  2e-12",
        "change at a tenth of the tolerance  3e-07 (of the largest entry of attention)",
        "A small drift alone does not bound the error; the change estimates it.",
    ]
    assert summarise(run)["refinement"] == 3e-7


def test_signs_that_rounding_could_turn_are_counted():
    run = make_run()
    assert sign_lines(summarise(run)) == []
    shape = run["recorded"]
    last = shape.copy(data=np.zeros(shape.shape, bool))
    last[:, -1] = True
    counts = {
        "zero_signs": xr.where(last, 2.0, 0.0),
        "tied_signs": xr.where(last, 1.0, 0.0),
        "signs_count": xr.full_like(shape, 10.0, float),
    }
    (line,) = sign_lines(summarise(run.assign(counts)))
    rows, ends = int(shape.sum()), int(shape[:, -1].sum())
    assert ends < shape.sizes["seed"], "rows that were not recorded do not count"
    assert f"of {10 * rows} at the recorded steps" in line
    assert f"{2 * ends} were exactly zero and {ends} within rounding" in line


def test_a_check_that_ended_otherwise_gives_no_number():
    gap = CHANGES.copy(data=[[np.nan] * 2, [1e-8, 2e-7]])
    run = make_run().assign(
        refinement_by_observable=gap, refinement=gap.max("observable", skipna=False)
    )
    assert "– (there the run ended otherwise)" in error_lines(summarise(run))[1]


def test_a_descent_says_what_it_could_bear():
    limit = xr.DataArray([0.5, 0.25], dims="seed", attrs={"learning_rate": 0.1})
    run = make_run().drop_vars("drift").assign(rate_threshold=limit)
    assert error_lines(summarise(run)) == []
    (line,) = rate_lines(summarise(run))
    assert line == "rate     0.1; linearly stable at the start up to 0.375 (0.25 … 0.5)"
    assert rate_lines(summarise(run.isel(seed=[0])))[0].endswith("up to 0.5")
    assert summarise(run)["rate_threshold"] == 0.25
    assert rate_lines(summarise(make_run())) == []


def test_a_run_that_diverges_says_what_to_do(program):
    done = program("run", "toy/flow", "ends=diverged")
    assert done.exit_code == 0
    assert "Use a smaller learning rate" in done.stdout


def test_an_interrupted_run_is_shown_and_not_stored(program):
    (run,) = program.json("run", "toy/flow", "ends=interrupted", code=130)["runs"]
    assert run["outcome"] == "interrupted"
    assert Store().list() == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["tay/flow"], "Did you mean 'toy'"),
        (["toy/flaw"], "Did you mean 'flow'"),
        (["toy"], "Name one of its experiments: toy/flow"),
        (["toy/flow", "widht=3"], "Did you mean 'width'"),
        (
            ["toy/flow", "width=wide"],
            "width must be an integer from",
        ),
        (["toy/flow", "width"], "Write it as width=64"),
        (["toy/flow", "width=1", "width=2"], "set twice"),
        (["toy/flow", "seeds=3"], "Write --seeds 3"),
        (["toy/flow", "learning_rate=-1"], "not positive"),
        (["toy/flow", "--seeds", "0"], "seeds"),
        (["toy/flow", "--seeds", "many"], "seeds"),
        (["toy/flow", "--data", "absent.npz"], "absent.npz"),
        (["toy/flow", "--at", "soon"], "--at 0,10,100"),
        (["toy/flow", "--record", ","], "names nothing"),
        (["toy/flow", "--out", "absent/run.nc"], "no directory absent"),
        (["toy/flow", "--json", "absent/run.json"], "no directory absent"),
        (["toy/flow", "--no-such-flag"], "--no-such-flag"),
    ],
)
def test_wrong_usage(program, toy, args, message):
    assert message in program.refused("run", *args)
    assert toy.calls == []


def test_an_unwritable_store_costs_nothing_but_a_warning(
    program, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATTNFLOW_STORE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="ATTNFLOW_STORE"):
        (run,) = program.json("run", "toy/flow")["runs"]
    assert run["outcome"] == "finished"


def test_files_that_a_user_names_stay_what_they_are(program, tmp_path):
    """A link is followed, a pipe is written to, a file keeps its permissions."""
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "real.json").chmod(0o600)
    (tmp_path / "link.json").symlink_to("real.json")
    assert program("run", "toy/flow", "--json", "link.json").exit_code == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["version"] == 2
    assert stat.S_IMODE((tmp_path / "real.json").stat().st_mode) == 0o600
    os.mkfifo(tmp_path / "pipe")
    content = []
    reader = threading.Thread(
        target=lambda: content.append((tmp_path / "pipe").read_bytes())
    )
    reader.start()
    assert program("run", "toy/flow", "--out", "pipe").exit_code == 0
    reader.join()
    assert content[0].startswith(b"\x89HDF")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert "is a directory" in program.refused("run", "toy/flow", "--out", tmp_path)
