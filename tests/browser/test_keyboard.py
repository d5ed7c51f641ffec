"""A session at an explorer by keyboard alone, and what a screen reader hears of it."""

import pytest

from tests.browser.documents import mixture_page
from tests.browser.explorer_page import ExplorerPage

STOPS = 200
"""More than a page has."""
# A radio button is its label: the button itself is not drawn.
_STOP = """() => {
  const node = document.activeElement;
  if (node === document.body) return null;
  const drawn = node.type === "radio" ? node.nextElementSibling : node;
  const { left, top, width, height } = drawn.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const there = document.elementFromPoint(x, y);
  return {
    tag: node.outerHTML.slice(0, 120),
    isSeen: Boolean(there) && (drawn.contains(there) || there.contains(drawn)),
    isMarked: getComputedStyle(drawn).outlineStyle === "solid",
  };
}"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A page of two experiments as a file."""
    return mixture_page(tmp_path_factory)


@pytest.fixture
def explorer(file, context):
    page = ExplorerPage(context, file.as_uri())
    yield page
    assert page.watched.complaints == []


def stops(explorer, key):
    """What has the focus, until it leaves the page."""
    found = []
    while len(found) < STOPS:
        explorer.page.keyboard.press(key)
        stop = explorer.page.evaluate(_STOP)
        if stop is None:
            return found
        found.append(stop)
    pytest.fail("the focus never leaves the page")


def reach(explorer, selector):
    """Go on by the Tab key until this has the focus."""
    for _ in range(STOPS):
        if has_focus(explorer, selector):
            return
        explorer.page.keyboard.press("Tab")
    pytest.fail(f"the Tab key does not reach {selector}")


def has_focus(explorer, selector):
    return explorer.page.locator(selector).evaluate_all(
        "(nodes) => nodes.includes(document.activeElement)"
    )


def press(explorer, *keys):
    for key in keys:
        explorer.page.keyboard.press(key)


@pytest.mark.parametrize("size", [(1440, 900), (390, 844), (844, 390)])
@pytest.mark.parametrize("key", ["Tab", "Shift+Tab"])
def test_the_focus_is_seen_wherever_it_goes(explorer, size, key):
    """Nothing that stays in sight covers it, whichever way it comes."""
    explorer.page.set_viewport_size({"width": size[0], "height": size[1]})
    found = stops(explorer, key)
    assert len(found) > 40
    assert [stop["tag"] for stop in found if not stop["isSeen"]] == []
    assert [stop["tag"] for stop in found if not stop["isMarked"]] == []


def test_the_first_key_skips_to_the_curves(explorer):
    explorer.after(explorer.type, "omega", "0.03")
    explorer.page.reload()
    explorer.wait(1)
    press(explorer, "Tab", "Enter")
    assert has_focus(explorer, "#first-chart")
    # The address, and with it the setting, is as it was.
    assert "omega=0.03" in explorer.address
    assert explorer.runs == 1


def test_a_session(explorer):
    reach(explorer, "[data-knob=omega] input[type=text]")
    before = explorer.curves()
    explorer.after(press, explorer, "ArrowDown")
    typed = explorer.curves()
    assert typed != before
    reach(explorer, "[data-knob=omega] input[type=range]")
    explorer.after(press, explorer, "ArrowLeft", "ArrowLeft")
    assert explorer.curves() != typed
    reach(explorer, "[data-knob=width] select")
    explorer.after(press, explorer, "End")
    assert "width=infinite" in explorer.address

    reach(explorer, "#pin")
    press(explorer, "Enter")
    assert len(explorer.curves("other")) == 2
    reach(explorer, "#unpin")
    press(explorer, "Enter")
    assert explorer.curves("other") == []
    assert has_focus(explorer, "#pin")
    reach(explorer, "#pairs")
    count = explorer.runs
    press(explorer, "ArrowDown")
    explorer.wait(count + 2)
    assert len(explorer.curves("other")) == 2
    assert has_focus(explorer, "#pairs")

    reach(explorer, "#copy-command")
    press(explorer, "Enter")
    explorer.page.wait_for_selector("text=Copied as command")
    assert "width=infinite" in explorer.status
    reach(explorer, "#save-csv")
    with explorer.page.expect_download() as started:
        press(explorer, "Enter")
    assert started.value.suggested_filename == "mixture-figure1.csv"

    reach(explorer, "#first-chart .entry")
    press(explorer, "Space")
    assert len(explorer.curves()) == 1
    reach(explorer, ".play")
    press(explorer, "Space")
    assert play_name(explorer) == "Pause"
    press(explorer, "Space")
    assert play_name(explorer) == "Play"
    reach(explorer, "#transport input")
    press(explorer, "Home")
    assert explorer.page.inner_text("#transport .time") == "step 0"
    press(explorer, "ArrowRight")
    assert explorer.page.inner_text("#transport .time") != "step 0"
    reach(explorer, "#more summary")
    press(explorer, "Enter")
    # What was folded is drawn after the next frame.
    explorer.page.locator("#more-charts .curve.own").first.wait_for()


def play_name(explorer):
    return explorer.page.get_attribute(".play", "aria-label")


def test_stop_hands_the_focus_on(explorer):
    explorer.type("steps", "30000000")
    explorer.page.locator("#stop").focus()
    press(explorer, "Enter")
    assert "Stopped" in explorer.status
    assert has_focus(explorer, ".play")


def test_every_control_has_a_name(explorer):
    """As Chromium computes it, from labels, formulas and attributes."""
    session = explorer.page.context.new_cdp_session(explorer.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    controls = [node for node in nodes if not node["ignored"] and is_focusable(node)]
    assert len(controls) > 40
    names = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in controls]
    blocks = ("RootWebArea", "generic")  # the page, and what can only be scrolled
    assert [
        pair for pair in names if pair[0] not in blocks and not pair[1].strip()
    ] == []
    said = {(role, name.strip()) for role, name in names}
    assert {("slider", "omega"), ("slider", "Time"), ("button", "Play")} <= said
    # The name of a curve, apart from its value.
    entry = next(name for _, name in names if name.startswith("consistent"))
    assert entry.split()[0] == "consistent"


def is_focusable(node):
    return any(
        p["name"] == "focusable" and p["value"]["value"] for p in node["properties"]
    )


def test_a_reader_hears_the_end_of_a_run_and_not_its_course(explorer):
    """Of what changes with a knob, one line is read out; faults come beside it."""
    live = explorer.page.locator("[aria-live], [role=status], [role=alert], output")
    shown = [node.get_attribute("id") for node in live.all() if node.is_visible()]
    assert shown == ["status"]
    explorer.type("steps", "30000000")
    explorer.page.wait_for_selector('#status[aria-busy="true"]')
    explorer.page.click("#stop")
    explorer.page.wait_for_selector('#status[aria-busy="false"]')
