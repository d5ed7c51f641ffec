"""An explorer's page in Chromium, for tests: open it, move a knob, wait for the run."""

import base64
import gzip
import json
import re

import numpy as np

from tests.chromium import Watched

# The policy of the page forbids to evaluate texts, on which Playwright's own waiting
# for functions rests: waits go by attributes.
_RECORDS = """() => {
  const bytes = (array) => {
    const raw = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    let text = "";
    for (let n = 0; n < raw.length; n += 1) text += String.fromCharCode(raw[n]);
    return btoa(text);
  };
  const { own } = runs;
  const rows = Object.entries(own.rows).map(([name, row]) => [name, bytes(row)]);
  const ends = own.stageEnds.map(({ end }) => end);
  const { count, times } = own;
  return { count, times: bytes(times), rows: Object.fromEntries(rows), ends };
}"""


def document_of(file):
    """The document inside a page."""
    text = file.read_text(encoding="utf-8")
    packed = re.search(r'id="document">([^<]*)<', text)
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


class ExplorerPage:
    """A page that is open: complaints and requests are remembered."""

    def __init__(self, context, address):
        self.watched = Watched(context)
        self.page = self.watched.page
        self.page.set_default_timeout(20_000)
        self.page.goto(address)
        self.wait(1)

    @property
    def runs(self) -> int:
        """How many runs the page has finished."""
        return int(self.page.get_attribute("#page", "data-runs") or 0)

    def wait(self, count, timeout=20_000):
        """Wait until this many runs have finished."""
        self.page.wait_for_selector("#page[data-runs]", state="attached")
        while self.runs < count and timeout > 0:
            self.page.wait_for_timeout(20)
            timeout -= 20
        assert self.runs >= count

    def after(self, action, *args):
        """Do something that starts a run, and wait for its end."""
        count = self.runs
        action(*args)
        self.wait(count + 1)

    def type(self, knob, text):
        """Type into the field of a knob."""
        field = self.page.locator(f"[data-knob={knob}] input[type=text]")
        field.fill(text)
        field.press("Enter")

    def slide(self, knob, key="ArrowRight"):
        """Move a slider by a key."""
        self.page.locator(f"[data-knob={knob}] input[type=range]").press(key)

    def fault(self, knob) -> str:
        """What is said beside a knob."""
        return self.page.inner_text(f"[data-knob={knob}] .fault")

    def curves(self, which="own", panel=0) -> list[str]:
        """The paths of a panel's curves."""
        paths = self.page.locator("figure.chart").nth(panel).locator(f".curve.{which}")
        return [path.get_attribute("d") or "" for path in paths.all()]

    def records(self):
        """All records of the run that is shown, bit by bit."""
        raw = self.page.evaluate(_RECORDS)
        count = raw["count"]
        rows = {
            name: np.frombuffer(base64.b64decode(text)).reshape(count, -1)
            for name, text in raw["rows"].items()
        }
        times = np.frombuffer(base64.b64decode(raw["times"]))
        return times, rows, raw["ends"]

    @property
    def address(self) -> str:
        """The address with its hash."""
        return self.page.url

    @property
    def status(self) -> str:
        """The line below the first panel."""
        return self.page.inner_text("#status")
