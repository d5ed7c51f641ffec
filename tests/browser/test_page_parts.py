"""Parts of a page that some documents have: maps, conserved quantities, agreement."""

import re

import pytest

from attnflow.browser.explorer.page import render
from tests.browser.documents import mixture_page, write_page
from tests.browser.explorer_page import ExplorerPage, document_of

RATES = [0.05, 0.1, 0.2]
SCALES = [0.01, 0.1, 1.0]
MAP = {
    "x": "omega",
    "y": "learning_rate",
    "xs": SCALES,
    "ys": RATES,
    "values": [[0.0, 0.5, 1.0], [0.2, 0.4, None], [0.1, 0.2, 0.3]],
    "title": "Share of seeds in which it holds",
    "label": "share",
    "threshold": 0.9,
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The document of an experiment."""
    return document_of(mixture_page(tmp_path_factory))


@pytest.fixture
def explorer(plain, context, tmp_path):
    """Its page with maps, a conserved quantity and a measured agreement."""
    experiment = plain["experiments"][0]
    claim = {**experiment["claims"][0], "id": "B-mapped", "live": False, "map": MAP}
    parts = {
        "maps": [{**MAP, "id": "map-loss", "title": "Loss over ω"}],
        "claims": [*experiment["claims"], claim],
        "agreement": {
            "tolerance": 1e-12,
            "observables": {"loss": 2e-15, "score": None, "sum": 3e-16},
            "zero": ["sum"],
            "where": "wasmtime 1 on Linux",
        },
    }
    document = {**plain, "experiments": [{**experiment, **parts}]}
    place = tmp_path / "parts.html"
    place.write_text(render(document), encoding="utf-8")
    page = ExplorerPage(context, place.as_uri())
    yield page
    assert page.watched.complaints == []


def test_a_cell_of_a_phase_diagram_opens_its_run(explorer):
    cells = explorer.page.locator("#phase .fieldmap rect[role=button]")
    assert cells.count() == 9
    explorer.after(cells.nth(6).click)
    assert "omega=0.01" in explorer.address
    assert "learning_rate=0.2" in explorer.address


def test_the_setting_is_a_point_of_the_map(explorer):
    point = explorer.page.locator("#phase .point")
    middle = float(point.get_attribute("cx"))
    explorer.after(explorer.type, "omega", "0.03")
    assert 0 < float(point.get_attribute("cx")) < middle
    explorer.after(explorer.type, "omega", "3")
    assert float(point.get_attribute("cx")) < 0


def test_cells_are_reached_by_keys(explorer):
    cells = explorer.page.locator("#phase .fieldmap rect[role=button]")
    cells.first.focus()
    explorer.page.keyboard.press("ArrowRight")
    explorer.page.keyboard.press("ArrowUp")
    assert "0.4" in explorer.page.inner_text("#phase .field .readout")
    explorer.page.keyboard.press("ArrowRight")
    explorer.after(explorer.page.keyboard.press, "Enter")
    assert "omega=1" in explorer.address


def test_a_claim_that_is_not_live_has_its_map(explorer):
    row = explorer.page.locator("[data-claim=B-mapped]")
    assert "the recorded verdict alone" in row.inner_text()
    row.locator("summary").click()
    assert row.locator(".point").is_visible()


def test_the_drift_of_what_is_conserved_follows_the_rate(explorer):
    said = explorer.page.locator("#conserved-drift")

    def drift():
        return float(re.search(r"this run: ([\d.]+)(?:·10)?", said.inner_text())[1])

    assert "Gram matrices" in explorer.page.inner_text("#conserved-laws")
    before = said.inner_text()
    explorer.after(explorer.type, "learning_rate", "0.01")
    assert said.inner_text() != before and drift() > 0


def test_the_measured_agreement_is_shown(explorer):
    said = explorer.page.inner_text("#exact")
    assert "2.0·10−15" in said and "wasmtime 1 on Linux" in said
    assert "all but score are within 10−12" in said
    assert "records at other times" in said
    assert "3.0·10−16 (absolute: it is 0 up to rounding)" in said


def test_a_page_that_was_not_measured_says_so(plain, context, tmp_path):
    place = tmp_path / "plain.html"
    place.write_text(render(plain), encoding="utf-8")
    page = ExplorerPage(context, place.as_uri())
    assert "Not measured for this page" in page.page.inner_text("#exact")


def test_a_title_cannot_break_out_of_the_page(plain, context, tmp_path):
    paper = {**plain["paper"], "title": "</title><script>throw 1</script>"}
    experiment = {**plain["experiments"][0], "about": "</script><b>x</b>"}
    document = {**plain, "paper": paper, "experiments": [experiment]}
    place = tmp_path / "odd.html"
    place.write_text(render(document), encoding="utf-8")
    page = ExplorerPage(context, place.as_uri())
    assert page.page.title().startswith("</title>")
    assert page.watched.complaints == []


def test_an_address_of_another_file_leads_there(plain, context, tmp_path):
    """A paper may have several files; a link need not know which has an experiment."""
    first, second = plain["experiments"]
    files = {"a.html": first, "b.html": second}
    book = [{"id": e["id"], "title": e["id"], "file": f} for f, e in files.items()]
    for file, experiment in files.items():
        part = {**plain, "experiments": [experiment], "book": book, "file": file}
        (tmp_path / file).write_text(render(part), encoding="utf-8")
    address = (tmp_path / "a.html").as_uri() + f"#{second['id']}?omega=0.2"
    explorer = ExplorerPage(context, address)
    assert explorer.address.endswith(f"b.html#{second['id']}?omega=0.2")
    assert explorer.watched.complaints == []


@pytest.mark.parametrize("width", [1440, 390])
def test_long_names_of_samples_do_not_widen_the_page(plain, context, tmp_path, width):
    first, *_ = plain["experiments"]
    variants = [
        {**variant, "labels": {**variant["labels"], "sample": names}}
        for variant in first["variants"]
        for names in [[12 * f"token{n} " for n in variant["labels"]["sample"]]]
    ]
    place = tmp_path / "long.html"
    document = {**plain, "experiments": [{**first, "variants": variants}]}
    place.write_text(render(document), encoding="utf-8")
    explorer = ExplorerPage(context, place.as_uri())
    explorer.page.set_viewport_size({"width": width, "height": 850})
    assert "token" in explorer.page.inner_text("#map-sample")
    wide = "() => document.documentElement.scrollWidth - window.innerWidth"
    assert explorer.page.evaluate(wide) <= 0


def test_a_field_keeps_what_was_refused_until_it_is_mended(explorer):
    """A rate of 0 is a number, but set-up takes another path for it."""
    explorer.type("learning_rate", "0")
    field = explorer.page.locator("[data-knob=learning_rate] input[type=text]")
    assert "another path" in explorer.fault("learning_rate")
    assert field.input_value() == "0" and "0.1" not in explorer.address
    explorer.after(explorer.type, "learning_rate", "0.05")
    assert explorer.fault("learning_rate") == ""


def entries(explorer):
    """Names of the first panel's legend, without their values."""
    names = explorer.page.locator("#first-chart .entry:visible > span:not(.value)")
    return names.all_text_contents()


def ends(explorer):
    """Names at the ends of its curves."""
    return explorer.page.locator("#first-chart .end").all_text_contents()


@pytest.fixture
def alike(plain, context, tmp_path):
    """A page whose first panel has the same curve three times, and another one."""
    series = [
        *({"selector": "loss", "label": label, "kind": "match"} for label in "abc"),
        {"selector": "largest_score", "label": "d", "kind": "match"},
    ]
    (experiment, *_) = plain["experiments"]
    panel = {**experiment["panels"][0], "series": series}
    document = {**plain, "experiments": [{**experiment, "panels": [panel]}]}
    place = tmp_path / "alike.html"
    place.write_text(render(document), encoding="utf-8")
    page = ExplorerPage(context, place.as_uri())
    yield page
    assert page.watched.complaints == []


def test_equal_curves_share_an_entry(alike):
    assert entries(alike) == ["a and 2 equal ones", "d"]
    assert sorted(ends(alike)) == ["a and 2 equal ones", "d"]
    summary = alike.page.get_attribute("#first-chart .plot", "aria-label")
    assert "a and 2 equal ones from 0.69" in summary
    assert "; d from" in summary
    assert len(alike.curves()) == 2
    entry = alike.page.locator("#first-chart .entry").first
    entry.click()
    assert entry.get_attribute("aria-pressed") == "false"
    assert len(alike.curves()) == 1 and ends(alike) == ["d"]
    entry.click()
    assert len(alike.curves()) == 2


def test_curves_that_part_have_entries_of_their_own(explorer):
    names = ["consistent", "conflicting"]
    assert entries(explorer) == names
    # Nothing is learned: both losses stay where they begin.
    explorer.after(explorer.type, "learning_rate", "1e-20")
    assert entries(explorer) == ["consistent = conflicting"]
    explorer.page.locator("#first-chart .entry").first.click()
    assert explorer.curves() == []
    explorer.page.locator("#first-chart .entry").first.click()
    explorer.after(explorer.type, "learning_rate", "0.1")
    assert entries(explorer) == names
    assert len(explorer.curves()) == 2 and len(ends(explorer)) == 2
    # Beside another run, curves are one where they are so in both.
    explorer.page.click("#pin")
    explorer.after(explorer.type, "learning_rate", "1e-20")
    assert entries(explorer) == names


def test_a_long_row_is_a_profile(context, tmp_path):
    chosen = {"record": "loss,score", "until": 100.0}
    file = write_page("scansnap", ["figure3"], tmp_path / "row.html", chosen)
    page = ExplorerPage(context, file.as_uri())
    line = page.page.locator(".heatmap.profile .curve")
    late = line.get_attribute("d")
    assert late.count("L") == 100  # 101 tokens
    label = page.page.get_attribute(".heatmap.profile", "aria-label")
    assert "at time 100: largest" in label
    page.page.locator("#transport input").press("Home")
    assert line.get_attribute("d") != late
    assert page.page.locator("#heatmaps rect").count() == 0
    assert page.watched.complaints == []
