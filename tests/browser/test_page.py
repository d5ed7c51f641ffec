"""The explorer's page in Chromium: what a reader does with it, and what it says."""

import csv
import functools
import hashlib
import io
import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from xml.etree import ElementTree

import numpy as np
import pytest

from attnflow.browser.explorer.replay import Replay
from tests.browser.documents import mixture_page
from tests.browser.explorer_page import ExplorerPage, document_of

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A page of two experiments as a file."""
    return mixture_page(tmp_path_factory)


@pytest.fixture
def explorer(file, context):
    """The page, opened from the disk; nothing may have gone wrong at the end."""
    page = ExplorerPage(context, file.as_uri())
    yield page
    assert page.watched.complaints == []


@pytest.fixture
def server(file):
    """The address of a web server for the file's folder."""
    handler = functools.partial(Quiet, directory=file.parent)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()
        thread.join()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def outside(requests, address):
    """Requests for anything but the page itself and what it made in memory."""
    own = ("data:", "blob:")
    return [r for r in requests if not r.startswith(own) and r != address]


def test_a_file_is_small(file):
    assert file.stat().st_size < MEGABYTE


def test_opened_from_a_disk_it_asks_for_nothing(explorer, file):
    assert len(explorer.curves()) == 2
    assert outside(explorer.watched.requests, file.as_uri()) == []


def test_opened_from_a_server_it_asks_for_nothing(context, server):
    page = ExplorerPage(context, server + "mixture.html")
    assert len(page.curves()) == 2
    assert page.watched.complaints == []
    assert outside(page.watched.requests, server + "mixture.html") == []


def test_it_runs_in_the_frame_of_a_notebook(context, file):
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_content("<iframe width=1200 height=800></iframe>")
    page.evaluate(
        "(text) => { document.querySelector('iframe').srcdoc = text; }",
        file.read_text(encoding="utf-8"),
    )
    frame = page.frame_locator("iframe")
    frame.locator("#page[data-runs]").wait_for(state="attached")
    slider = frame.locator("[data-knob=omega] input[type=range]")
    slider.press("ArrowRight")
    frame.locator('#page[data-runs="2"]').wait_for(state="attached")
    assert complaints == []


@pytest.mark.parametrize("setting", [{}, {"omega": 0.03, "rule": "flow", "steps": 50}])
def test_chromium_computes_the_bits_of_wasmtime(file, context, setting):
    expected = Replay(document_of(file)).play(setting)
    hash = "#figure1?" + "&".join(f"{name}={value}" for name, value in setting.items())
    times, rows, ends = ExplorerPage(context, file.as_uri() + hash).records()
    assert ends == expected.ends
    assert digest(times, rows) == digest(expected.times, expected.rows)


def digest(times, rows):
    """SHA-256 of all records."""
    arrays = [times, *(rows[name] for name in sorted(rows))]
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()


def test_curves_follow_a_slider(explorer):
    before, address = explorer.curves(), explorer.address
    explorer.after(explorer.slide, "omega", "ArrowRight")
    assert explorer.curves() != before
    assert explorer.address != address
    value = explorer.page.input_value("[data-knob=omega] input[type=text]")
    assert f"omega={value}" in explorer.address
    assert float(value) > 0.1


def test_another_experiment_is_opened(explorer):
    explorer.after(lambda: explorer.page.select_option("#experiment", index=1))
    assert "#stage1" in explorer.address
    assert "time" in explorer.page.inner_text("#transport .time")
    explorer.after(explorer.page.go_back)
    assert "#stage1" not in explorer.address
    assert explorer.page.input_value("#experiment") == "0"


def test_a_choice_has_a_kernel_of_its_own(explorer):
    before = explorer.curves()
    choose = explorer.page.locator("[data-knob=width] select").select_option
    explorer.after(lambda: choose(label="infinite"))
    assert explorer.curves() != before
    assert "width=infinite" in explorer.address


def test_a_preset_is_opened(explorer):
    presets = explorer.page.locator("#presets")
    option = presets.locator("optgroup[label=Overview] option", has_text="infinite)")
    explorer.after(lambda: presets.select_option(value=option.get_attribute("value")))
    assert "width=infinite" in explorer.address
    explorer.after(explorer.type, "omega", "0.02")
    assert presets.input_value() == ""


def test_stages_follow_a_knob(explorer):
    def rows():
        cells = explorer.page.locator(".stages tbody tr").all()
        return {
            c[0]: c[2:4]
            for c in ([*row.locator("th, td").all_inner_texts()] for row in cells)
        }

    names, before = stage_names(explorer), rows()
    assert names == [name for name in before]
    lines = explorer.page.locator(".plot").first.locator("line.detected")
    assert lines.count() == len(before)
    explorer.after(explorer.type, "omega", "0.05")
    after = rows()
    onset = next(name for name in before if "onset" in name)
    formula, detected = (float(text) for text in after[onset])
    assert abs(detected / formula - 1) < 0.02
    assert detected > float(before[onset][1])


def stage_names(explorer):
    return explorer.page.locator(".stages tbody th").all_inner_texts()


def test_a_stage_that_is_not_reached_is_said(explorer):
    explorer.after(explorer.type, "steps", "300")
    assert "not reached" in explorer.page.inner_text(".stages")


def test_claims_are_judged_anew(explorer):
    here = explorer.page.locator("[data-claim=B-Sec3-order] td").last
    assert here.inner_text().startswith("✓ so in this run")
    # Both numbers of the comparison, and how much of the claim it is.
    said = " ".join(here.inner_text().split())
    assert re.search(r"consistent 14\d\.\d < t conflict 8\d\d", said)
    assert "1 of 3 parts of the predicate" in here.inner_text()
    explorer.after(explorer.type, "omega", "3")
    assert "not so in this run" in here.inner_text()
    explorer.after(explorer.type, "steps", "20")
    assert "not decided" in here.inner_text()


def test_conditions_follow_a_knob(explorer):
    said = explorer.page.locator("#conditions-count")
    before = said.inner_text()
    assert "flow (not met)" in before
    explorer.after(lambda: choose_rule(explorer, "flow"))
    assert "flow (" not in said.inner_text()
    row = explorer.page.locator("#conditions-rows tr", has_text="gradient flow")
    assert "met" in (row.locator(".chip").text_content() or "")


def choose_rule(explorer, value):
    """Choose a rule, by its menu or by its button."""
    knob = explorer.page.locator("[data-knob=rule]")
    if knob.locator("select").count():
        knob.locator("select").select_option(label=value)
    else:
        knob.get_by_text(value, exact=True).click()


def test_a_flow_and_a_descent_are_compared_in_one_time(explorer):
    count = explorer.runs
    explorer.page.select_option("#pairs", label="with flow")
    explorer.wait(count + 2)
    rows = explorer.page.locator(".stages tbody tr").all()
    for row in rows:
        texts = row.locator("td").all_inner_texts()
        descent, flow = float(texts[2]), float(texts[3])
        assert abs(flow / descent - 1) < 0.05


def test_maps_of_attention_follow_the_scrubber(explorer):
    cells = explorer.page.locator(".heatmap rect")
    late = [cell.get_attribute("fill") for cell in cells.all()]
    explorer.page.locator("#transport input").press("Home")
    early = [cell.get_attribute("fill") for cell in cells.all()]
    assert early != late
    assert explorer.page.inner_text("#transport .time") == "step 0"
    assert "~t=0" in explorer.address
    label = explorer.page.locator(".heatmap").first.get_attribute("aria-label")
    assert "step 0" in label


def test_play_goes_from_the_first_record_to_the_last(explorer):
    explorer.page.click(".play")
    explorer.page.wait_for_selector('.play[aria-label="Pause"]')
    explorer.page.wait_for_selector('.play[aria-label="Play"]', timeout=30_000)
    assert explorer.page.inner_text("#transport .time") == "step 2000"


def test_the_cursor_is_shared_by_all_panels(explorer):
    values = explorer.page.locator(".legend .value")
    before = values.all_inner_texts()
    explorer.page.locator(".plot").first.hover(position={"x": 200, "y": 100})
    assert values.all_inner_texts()[0] != before[0]
    assert values.all_inner_texts()[2] != before[2]
    lines = explorer.page.locator(".plot .cursor line").all()
    assert len(lines) >= 3
    explorer.page.mouse.move(5, 5)
    assert values.all_inner_texts() == before


def test_a_legend_hides_its_curve(explorer):
    explorer.page.locator(".entry").first.click()
    assert len(explorer.curves()) == 1
    explorer.page.locator(".entry").first.click()
    assert len(explorer.curves()) == 2


def test_axes_change_between_linear_and_logarithmic(explorer):
    before = explorer.curves()
    explorer.page.locator(".chart .scale").first.click()
    logarithmic = explorer.curves()
    assert logarithmic != before
    explorer.page.click("#x-scale")
    assert explorer.curves() != logarithmic
    assert "~x=log" in explorer.address
    assert "~y=0.log" in explorer.address


def test_a_pinned_run_stays_while_another_moves(explorer):
    before = explorer.curves()
    explorer.page.click("#pin")
    assert explorer.curves("other") == before
    explorer.after(explorer.type, "omega", "0.02")
    pinned = explorer.curves("other")
    assert len(pinned) == 2
    assert explorer.curves() != pinned
    assert "Largest difference" in explorer.page.inner_text("#difference")
    explorer.page.click("#unpin")
    assert explorer.curves("other") == []


def test_a_pair_follows_the_knobs(explorer):
    def choose():
        explorer.page.select_option("#pairs", label="with infinite width")

    count = explorer.runs
    choose()
    explorer.wait(count + 2)
    first = explorer.curves("other")
    assert len(first) == 2
    explorer.type("omega", "0.02")
    explorer.wait(count + 4)
    assert explorer.curves("other") != first


def test_a_link_opens_the_same_view(explorer, context):
    explorer.page.click("#pin")
    explorer.after(explorer.type, "omega", "0.03")
    explorer.page.click("#x-scale")
    explorer.page.locator("#transport input").press("Home")
    again = ExplorerPage(context, explorer.address)
    again.wait(2)
    for which in ("own", "other"):
        assert again.curves(which) == explorer.curves(which)
    assert again.page.inner_text("#transport .time") == "step 0"
    assert again.page.input_value("[data-knob=omega] input[type=text]") == "0.03"
    assert again.address == explorer.address
    assert again.watched.complaints == []


def test_back_and_forward_go_through_settings(explorer):
    first = explorer.curves()
    explorer.after(explorer.type, "omega", "0.02")
    second = explorer.curves()
    explorer.after(explorer.page.go_back)
    assert explorer.curves() == first
    explorer.after(explorer.page.go_forward)
    assert explorer.curves() == second


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-1", "too small"),
        ("quick", "not a number"),
        ("", "not a number"),
        ("1e400", "too large"),
    ],
)
def test_a_wrong_number_is_said_beside_its_knob(explorer, text, words):
    before = explorer.curves()
    explorer.type("omega", text)
    assert words in explorer.fault("omega")
    field = explorer.page.locator("[data-knob=omega] input[type=text]")
    assert field.get_attribute("aria-invalid") == "true"
    assert explorer.curves() == before
    explorer.after(explorer.type, "omega", "0.2")
    assert explorer.fault("omega") == ""


def test_numbers_may_be_typed_as_powers_and_fractions(explorer):
    explorer.after(explorer.type, "omega", "2·10⁻²")
    assert "omega=0.02" in explorer.address
    explorer.after(explorer.type, "omega", "1/4")
    assert "omega=0.25" in explorer.address


def test_a_wrong_address_is_said_and_the_page_lives(file, context):
    wrong = "#nosuch?omega=-3&omgea=1&width=7&bias=x&~y=99.log&~t=q&~vs=77&~pin=a%3Fb"
    page = ExplorerPage(context, file.as_uri() + wrong)
    said = page.page.inner_text("#notice")
    assert "no experiment “nosuch”" in said
    assert "did you mean “omega”" in said
    assert "too small" in page.fault("omega")
    assert "not one of" in page.fault("width")
    assert "not a number" in page.fault("bias")
    assert len(page.curves()) == 2
    page.after(page.type, "omega", "0.2")
    assert page.watched.complaints == []


def test_a_long_run_is_drawn_as_it_goes_and_given_up(explorer):
    explorer.type("steps", "30000000")
    explorer.page.wait_for_selector("#status.busy")
    explorer.page.wait_for_selector(".curve.before", state="attached")
    explorer.after(explorer.type, "steps", "500")
    assert "step 500" in explorer.page.inner_text("#transport .time")


def test_a_long_run_is_stopped(explorer):
    explorer.type("steps", "30000000")
    explorer.page.click("#stop")
    assert "Stopped" in explorer.status
    explorer.after(explorer.type, "steps", "500")
    assert len(explorer.curves()) == 2


def test_divergence_is_said(explorer):
    explorer.after(explorer.type, "learning_rate", "1e99")
    assert "Diverged" in explorer.status
    assert "smaller learning rate" in explorer.page.inner_text("#notice")
    explorer.after(explorer.type, "learning_rate", "0.1")
    assert "Computed" in explorer.status
    assert explorer.page.locator("#notice").is_hidden()


def test_code_is_copied(explorer):
    explorer.after(explorer.type, "omega", "0.02")
    explorer.page.click("#copy-python")
    explorer.page.wait_for_selector("text=Copied as python")
    assert 'af.run("mixture/figure1", omega=0.02)' in explorer.status
    explorer.page.click("#copy-command")
    explorer.page.wait_for_selector("text=Copied as command")
    assert "attnflow run mixture/figure1 omega=0.02" in explorer.status
    explorer.page.click("#copy-link")
    explorer.page.wait_for_selector("text=Copied as link")
    assert explorer.address in explorer.status


def test_records_are_downloaded(explorer):
    rows = list(csv.reader(io.StringIO(download(explorer, "csv").decode())))
    times, records, _ = explorer.records()
    assert rows[0][0] == "step"
    column = rows[0].index("loss_by_group[conflicting]")
    values = [float(row[column]) for row in rows[1:]]
    np.testing.assert_array_equal(values, records["loss_by_group"][:, 1])
    np.testing.assert_array_equal([float(row[0]) for row in rows[1:]], times)


def test_pictures_are_downloaded(explorer):
    picture = ElementTree.fromstring(download(explorer, "svg"))
    paths = picture.findall(".//{http://www.w3.org/2000/svg}path")
    drawn = {path.get("d") for path in paths}
    assert set(explorer.curves()) <= drawn
    lines = picture.findall(".//{http://www.w3.org/2000/svg}line")
    assert all("var(" not in (each.get("stroke") or "") for each in [*paths, *lines])
    # A panel without names beside its curves has them in its legend.
    words = {
        "".join(text.itertext())
        for text in picture.iter()
        if text.tag.endswith("}text")
    }
    names = explorer.page.locator(
        ".chart:visible .entry > span:not(.value)"
    ).all_text_contents()
    assert len(names) > 5 and set(names) <= words
    assert download(explorer, "png").startswith(b"\x89PNG")


def download(explorer, kind):
    with explorer.page.expect_download() as started:
        explorer.page.click(f"#save-{kind}")
    return started.value.path().read_bytes()


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_nothing_hangs_over(explorer, size):
    explorer.page.set_viewport_size({"width": size[0], "height": size[1]})
    wide = "() => document.documentElement.scrollWidth - window.innerWidth"
    assert explorer.page.evaluate(wide) <= 0


def test_charts_have_words_for_those_who_do_not_see_them(explorer):
    label = explorer.page.locator(".plot").first.get_attribute("aria-label")
    assert "consistent from 0.69" in label
    unnamed = """() => [...document.querySelectorAll("input, select, button")].filter(
      (node) => !(node.labels?.length || node.ariaLabel || node.textContent.trim())
    ).map((node) => node.outerHTML)"""
    assert explorer.page.evaluate(unnamed) == []


def test_a_dark_page_has_the_colours_of_dark_figures(file, browser):
    colours = []
    for scheme in ("light", "dark"):
        with browser.new_context(color_scheme=scheme) as context:
            page = ExplorerPage(context, file.as_uri()).page
            curve = page.locator(".curve.own").first
            colours.append(curve.evaluate("(path) => getComputedStyle(path).stroke"))
    assert colours == ["rgb(8, 118, 79)", "rgb(76, 196, 144)"]
