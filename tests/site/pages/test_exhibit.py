"""Exhibits as files."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from attnflow import figures
from attnflow.figures.style import themed
from attnflow.site.pages import earlier_result, make_exhibit
from attnflow.site.pages.files import save_figure
from tests.figures.runs import make_run
from tests.site.pages.papers import draw, exhibit, paper


def make(directory, evidence, **changes):
    return make_exhibit(paper(), exhibit(**changes), evidence, directory)


def names(result):
    return [Path(name).name for name in result.files]


def test_a_figure_is_pictures_for_light_and_dark_and_its_numbers(tmp_path, evidence):
    result = make(tmp_path / "deep" / "down", evidence)
    ends = (".svg", ".png", ".dark.svg", ".json")
    assert names(result) == [f"figure1{end}" for end in ends]
    assert all(Path(name).stat().st_size for name in result.files)
    record = json.loads(Path(result.files[-1]).read_text())
    assert (
        record["values"]
        == result.values
        == {"loss": {"last": pytest.approx(0.1, 1e-3)}}
    )
    (stated,) = record["stated"]
    assert (stated["sentence"], stated["place"]) == ("The loss falls.", "Section 6")
    assert stated["is_true"] and record["checks"] == {"It is a loss.": True}
    assert record["runs"][0]["id"] == "0123456789abcdef"


def test_a_table_is_also_csv_and_html(tmp_path, evidence):
    result = make(tmp_path, evidence, id="table1", kind="table")
    assert {Path(name).suffix for name in result.files} == {
        *(".svg", ".png", ".json", ".csv", ".html")
    }
    assert (tmp_path / "table1.csv").read_text().startswith(",last\nloss,0.1")
    assert "<table" in (tmp_path / "table1.html").read_text()


def test_equal_runs_give_equal_pictures(tmp_path, evidence):
    for place in ("one", "two"):
        make(tmp_path / place, evidence)
    for name in ("figure1.svg", "figure1.png", "figure1.dark.svg"):
        one, two = ((tmp_path / p / name).read_bytes() for p in ("one", "two"))
        assert one == two
    text = (tmp_path / "one" / "figure1.svg").read_text()
    assert "<dc:date>" not in text
    assert text != (tmp_path / "one" / "figure1.dark.svg").read_text()
    assert "attnflow" in text


@pytest.mark.parametrize(
    ("printed", "stated", "agrees"),
    [
        ({"loss": {"last": 0.1}}, {"yes": True}, True),
        ({"loss": {"last": 0.1}}, {"no": False}, False),
        ({"loss": {"last": 0.2}}, {"yes": True}, False),
        ({"absent": 1.0}, {"yes": True}, False),
        ({}, {"yes": True, "also": True}, True),
        ({}, {"yes": True, "no": False}, False),
        ({}, {}, None),
    ],
)
def test_agreement(tmp_path, evidence, printed, stated, agrees):
    """Our own checks, of which one is false, have no say."""
    result = make(
        tmp_path,
        evidence,
        printed=printed,
        stated=lambda evidence: {"Section 1": stated},
        checks=lambda evidence: {"ours": False},
    )
    assert result.agrees is agrees


def test_what_is_recorded_is_no_surprise(tmp_path, evidence):
    told = {
        "printed": {"loss": {"last": 0.2}},
        "stated": lambda evidence: {"Section 1": {"no": False, "yes": True}},
        "checks": lambda evidence: {"ours": False},
    }
    result = make(tmp_path, evidence, **told)
    assert result.surprises == ("loss · last", "no", "ours")
    smaller = tuple(replace(run, changed=("width",)) for run in result.runs)
    quick = replace(result, quick=True, runs=smaller)
    assert quick.surprises == ("no", "ours")
    why = {"no": "the contrary", "loss · last": "another width"}
    result = make(tmp_path, evidence, **told, differs=why)
    assert result.agrees is False and result.surprises == ("ours",)
    assert [row.differs for row in result.stated] == ["the contrary", ""]
    result = make(tmp_path, evidence, **told, differs={**why, "yes": "not so"})
    assert result.surprises == ("yes", "ours")


@pytest.mark.parametrize(("sd", "agrees"), [(0.04, True), (0.02, False)])
def test_a_random_draw_is_compared_in_deviations(tmp_path, evidence, sd, agrees):
    """The printed 0.2 is 2.5 deviations of 0.04 off our 0.1, and 5 of 0.02."""
    result = make(
        tmp_path,
        evidence,
        printed={"loss": {"last": 0.2}},
        tolerance=3.0,
        deviations=lambda evidence: {"loss": {"last": sd}},
    )
    assert result.compared[0].deviation == pytest.approx(0.1 / sd, rel=1e-3)
    assert result.compared[0].agrees is agrees


def test_seconds_count_every_run_once(tmp_path, evidence):
    needs = {**exhibit().needs, "again": exhibit().needs["run"]}
    both = {**evidence, "again": evidence["run"]}
    start = time.perf_counter()
    result = make(tmp_path, both, needs=needs)
    assert 1.5 < result.seconds < 1.5 + time.perf_counter() - start


def test_settings_that_were_not_asked_for_are_named(tmp_path, evidence):
    assert make(tmp_path, evidence).runs[0].changed == ()
    quick = make_run().assign_attrs(setting=json.dumps({"width": 128, "steps": 20}))
    assert make(tmp_path, {"run": quick}).runs[0].changed == ("steps",)
    request = replace(exhibit().needs["run"], seeds=7)
    assert make(tmp_path, evidence, needs={"run": request}).runs[0].changed == (
        "seeds",
    )


def test_what_was_made_quickly_says_so(tmp_path, evidence):
    result = make_exhibit(paper(), exhibit(), evidence, tmp_path, quick=True, key="k")
    earlier = earlier_result("fake", "figure1", tmp_path)
    assert earlier == result
    assert (earlier.quick, earlier.key) == (True, "k")


def test_a_drawing_that_fails_leaves_no_files(tmp_path, evidence):
    def broken(evidence):
        draw(evidence)
        raise ValueError("no such curve")

    with pytest.raises(ValueError, match="no such curve"):
        make(tmp_path, evidence, draw=broken)
    assert list(tmp_path.iterdir()) == []


def test_a_result_can_be_read_again(tmp_path, evidence):
    result = make(tmp_path, evidence, printed={"loss": {"last": 0.1}})
    assert earlier_result("fake", "figure1", tmp_path) == result
    assert earlier_result("other", "figure1", tmp_path) is None
    assert earlier_result("fake", "figure9", tmp_path) is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"files": 3}'])
def test_what_another_version_kept_counts_as_not_made(tmp_path, text):
    (tmp_path / "figure1.json").write_text(text)
    assert earlier_result("fake", "figure1", tmp_path) is None


def test_a_result_whose_picture_is_gone_counts_as_not_made(tmp_path, evidence):
    make(tmp_path, evidence)
    (tmp_path / "figure1.svg").unlink()
    assert earlier_result("fake", "figure1", tmp_path) is None


@pytest.mark.parametrize("ending", [".svg", ".png", ".dark.svg", ".json"])
def test_a_flipped_bit_of_a_kept_result_counts_as_not_made(tmp_path, evidence, ending):
    """Of every file of an exhibit, at a few places."""
    result = make(tmp_path, evidence)
    path = tmp_path / f"figure1{ending}"
    whole = path.read_bytes()
    for position in range(0, len(whole), max(1, len(whole) // 40)):
        harmed = bytearray(whole)
        harmed[position] ^= 1 << position % 8
        path.write_bytes(harmed)
        assert earlier_result("fake", "figure1", tmp_path) is None, position
    path.write_bytes(whole)
    assert earlier_result("fake", "figure1", tmp_path) == result


def test_the_layout_is_found_once_for_all_files(tmp_path, monkeypatch):
    with themed("light"):
        figure, axes = figures.panels()
        axes[0, 0].plot([1, 2], [3, 4], label="a label beside the axes")
        figures.label_ends(axes[0, 0])
    engine = figure.get_layout_engine()
    layouts, execute = [], engine.execute
    monkeypatch.setattr(engine, "execute", lambda f: layouts.append(f) or execute(f))
    save_figure(figure, [tmp_path / "a.svg", tmp_path / "a.png"])
    assert layouts == [figure]
    assert figure.get_layout_engine() is engine
    # As it comes out where the figure draws itself.
    bounds = axes[0, 0].get_position().bounds
    figure.draw_without_rendering()
    assert bounds == pytest.approx(axes[0, 0].get_position().bounds, abs=0.01)
