"""Explorers of all papers in Chromium: opened, moved, with the bits of wasmtime."""

import pytest

from attnflow.browser.explorer.replay import Replay
from tests.browser.documents import write_page
from tests.browser.explorer_page import ExplorerPage, document_of
from tests.browser.test_page import MEGABYTE, digest, outside

SLOW = pytest.mark.slow
EXPERIMENTS = [
    "scansnap/figure3-c",
    pytest.param("mixture/three-stage", marks=SLOW),
    pytest.param("scansnap/figure3", marks=SLOW),
    pytest.param("cooccurrence/quotient", marks=SLOW),
    pytest.param("vit/theory-benign", marks=SLOW),
    pytest.param("signgd/setting-a", marks=SLOW),
]


@pytest.fixture(scope="module", params=EXPERIMENTS)
def file(request, tmp_path_factory):
    """The page of an experiment."""
    slug, id = request.param.split("/")
    return write_page(slug, [id], tmp_path_factory.mktemp("explorer") / f"{slug}.html")


@pytest.fixture
def explorer(file, context):
    page = ExplorerPage(context, file.as_uri())
    yield page
    assert page.watched.complaints == []
    assert outside(page.watched.requests, file.as_uri()) == []


def test_a_page_opens_and_follows_a_slider(explorer, file):
    assert file.stat().st_size < MEGABYTE
    before = explorer.curves()
    assert any(before)
    # One that says where training ends, say, moves no curve of the first panel; and a
    # flow has a learning rate which is not shown.
    sliders = explorer.page.locator(".knob .number input[type=range]").all()
    for slider in [slider for slider in sliders if slider.is_visible()]:
        explorer.after(slider.press, "ArrowLeft")
        if explorer.curves() != before:
            break
    else:
        pytest.fail("no slider moves a curve")
    assert "?" in explorer.address


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_hangs_over(explorer, width):
    explorer.page.set_viewport_size({"width": width, "height": 850})
    wide = "() => document.documentElement.scrollWidth - window.innerWidth"
    assert explorer.page.evaluate(wide) <= 0


def test_chromium_computes_the_bits_of_wasmtime(explorer, file):
    expected = Replay(document_of(file)).play({})
    times, rows, ends = explorer.records()
    assert ends == expected.ends
    # A run that ends by an event has no records after it.
    met = expected.recorded
    shown = {name: row[met] for name, row in expected.rows.items()}
    assert digest(times, rows) == digest(expected.times[met], shown)
