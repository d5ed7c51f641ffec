"""Animations: frames are what is recorded, drawn fast and drawn whole alike."""

import io

import numpy as np
import pytest
from PIL import Image

from attnflow import figures
from attnflow.figures import animation as animations

DOTS = 50


@pytest.fixture
def moving(run):
    fixed = {"head": "+"}
    return figures.animate(run, "score", fixed=fixed, frames=5, seconds=1)


def numbers(ax):
    return [text.get_text() for text in ax.texts]


def panels(figure):
    return [ax for ax in figure.get_axes() if ax.texts]


def test_frames_are_records_from_the_first_to_the_last(run, moving):
    assert moving.places == (0, 5, 10, 15, 20)
    score = run["score"].sel(seed=0, head="+", key="c1", query="v1")
    (panel,) = panels(moving.figure)
    for place in moving.places:
        moving.draw(place)
        shown = f"{float(score[place]):.2f}"
        assert numbers(panel)[2] == shown
        assert numbers(panel)[3] == f"−{shown}".replace("−0.00", "−0.00")
        assert f"step {figures.number(float(run.time[place]))}" in str(
            moving.figure._suptitle.get_text()
        )


def test_what_moves_upon_what_stays_is_the_whole_figure(moving):
    fast = list(moving.images(DOTS))
    assert len(fast) == 5
    for place, image in zip(moving.places, fast, strict=True):
        moving.draw(place)
        file = io.BytesIO()
        moving.figure.savefig(file, format="png", dpi=DOTS)
        whole = np.asarray(Image.open(file).convert("RGB"), int)
        assert whole.shape == image.shape
        # The order in which neighbours overlap may differ by a shade.
        assert np.mean(np.abs(whole - image) > 32) < 2e-3
    assert not np.array_equal(fast[0], fast[-1])


def test_a_gif_has_every_frame_and_rests_on_the_last(moving, tmp_path):
    file = moving.save(tmp_path / "scores.gif", dots=DOTS)
    with Image.open(file) as image:
        assert image.n_frames == 5
        times = []
        for k in range(5):
            image.seek(k)
            times.append(image.info["duration"])
    assert times == [200, 200, 200, 200, 1200]
    assert list(tmp_path.iterdir()) == [file]


def test_a_page_holds_its_frames(moving, tmp_path):
    page = moving.save(tmp_path / "scores.html", dots=DOTS).read_text("utf-8")
    assert page.count("data:image/png;base64,") == 5
    assert 'max="4"' in page and "http" not in page


def test_a_film_needs_ffmpeg(moving, tmp_path, monkeypatch):
    monkeypatch.setattr(animations.animation.writers, "is_available", lambda _: False)
    with pytest.raises(ValueError, match=r"needs ffmpeg.* Install it, or write a .gif"):
        moving.save(tmp_path / "scores.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_film_is_handed_to_ffmpeg(moving, tmp_path, monkeypatch):
    calls = []

    def save(film, file, *, writer, fps, dpi):
        calls.append((writer, fps, dpi, len(list(film.new_frame_seq()))))
        film._draw_was_started = True  # or it warns when it goes
        with open(file, "wb") as copy:
            copy.write(b"film")

    monkeypatch.setattr(animations.animation.writers, "is_available", lambda _: True)
    monkeypatch.setattr(animations.animation.FuncAnimation, "save", save)
    file = moving.save(tmp_path / "scores.mp4")
    assert file.read_bytes() == b"film"
    assert calls == [("ffmpeg", 5, 110, 10)]


def test_other_kinds_are_named(moving, tmp_path):
    with pytest.raises(ValueError, match=r"Known: .gif, .html, .mp4"):
        moving.save(tmp_path / "scores.avi")


def test_a_notebook_shows_it(moving):
    assert moving._repr_html_().startswith('<img alt="animation" src="data:image/gif')


def test_attention_is_shown_by_default_with_a_panel_for_each_label(run):
    moving = figures.animate(run, frames=2)
    titles = [ax.get_title(loc="center") for ax in panels(moving.figure)]
    assert len(titles) == 4
    assert titles[0].startswith("sample $c_{1}") and titles[0].endswith("head +")
    one = figures.animate(run, fixed={"head": "-", "sample": "c1 v1 v2"}, frames=2)
    assert len(panels(one.figure)) == 1


def test_what_is_left_out_is_said(run):
    many = run.isel(sample=[0, 1] * 4)
    moving = figures.animate(many, frames=2)
    assert len(panels(moving.figure)) == animations.MOST
    assert "the first 8 of 16 panels" in moving.figure._suptitle.get_text()


def test_records_that_are_not_known_are_no_frames(run):
    cut = run.where(run.time < 1000)
    cut = cut.assign(recorded=run["recorded"] & (run.time < 1000))
    assert figures.animate(cut, "score", frames=99).places == tuple(range(10))
    with pytest.raises(ValueError, match="No record of score is known"):
        figures.animate(run.where(run.time < 0), "score")


@pytest.mark.parametrize(
    ("change", "variable", "message"),
    [
        (lambda run: run.drop_vars(["attention", "score"]), None, "neither attention"),
        (lambda run: run, "loss", "shows matrices over time"),
        (lambda run: run, "scores", "Did you mean 'score'"),
    ],
)
def test_what_cannot_be_shown(run, change, variable, message):
    with pytest.raises(ValueError, match=message):
        figures.animate(change(run), variable)


def test_large_matrices_have_no_numbers_and_a_theme_is_kept(run):
    wide = run.isel(key=[0, 1, 2, 3] * 2, query=[0, 1, 2, 3] * 2)
    with figures.themed("dark") as theme:
        moving = figures.animate(wide, "score", fixed={"head": "+"}, frames=2, below="")
    assert panels(moving.figure) == []
    first = next(moving.images(DOTS))
    paper = tuple(int(theme.paper[k : k + 2], 16) for k in (1, 3, 5))
    assert tuple(first[-1, -1]) == paper
