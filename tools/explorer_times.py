"""Time what a reader of an explorer waits for, in Chromium.

    python tools/explorer_times.py [PAPER/EXPERIMENT or PAGE.html …] [--moves 15]

Of each experiment its page is written, and opened in Chromium. Printed are the
size of the file; the milliseconds from the start of the navigation to the first curve;
and, warm, from a move of a slider to the first part of the new curves and to the whole
of them, all after the frame that shows them. Medians, with the smallest and the
largest; the first line says how busy the machine was. Needs Chromium and playwright, as
the tests in a browser do (`make browser`, `make setup`).
"""

import argparse
import os
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import attnflow as af

CASES = {
    "mixture/figure1": "omega",
    "scansnap/figure3-c": "score_rate",
    "cooccurrence/quotient": "c0",
    "vit/theory-benign": "values",
    "signgd/setting-a": "learning_rate",
}
"""Experiments with limits (issue 23), and the slider that is moved."""
OPENINGS = 5
SETTLED = 1000
"""Milliseconds after which a new window is at rest."""

# Times are taken in the task after the frame in which the change was painted.
_PAINTED = """
  const painted = (then) => requestAnimationFrame(() => setTimeout(then));
"""
_OPENED = f"""
  window.firstCurve = new Promise((resolve) => {{
    {_PAINTED}
    new MutationObserver((_, observer) => {{
      if (!document.querySelector("#first-chart .curve.own")) return;
      observer.disconnect();
      painted(() => resolve(performance.now()));
    }}).observe(document, {{ childList: true, subtree: true }});
  }});
"""
_MOVED = f"""({{ knob, share }}) => new Promise((resolve) => {{
  {_PAINTED}
  const chart = document.getElementById("first-chart");
  const slider = document.querySelector(`[data-knob=${{knob}}] input[type=range]`);
  const began = performance.now();
  const passed = () => performance.now() - began;
  let first = null;
  const parts = new MutationObserver(() => {{
    parts.disconnect();
    painted(() => {{ first = passed(); }});
  }});
  parts.observe(chart, {{ childList: true, subtree: true }});
  const whole = new MutationObserver(() => {{
    whole.disconnect();
    painted(() => resolve([first ?? passed(), passed()]));
  }});
  whole.observe(document.getElementById("page"), {{ attributeFilter: ["data-runs"] }});
  slider.value = Number(slider.min) + share * (slider.max - slider.min);
  slider.dispatchEvent(new Event("input", {{ bubbles: true }}));
}})"""


def main() -> None:
    """Print a row for each experiment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(CASES))
    parser.add_argument("--knob", help="the slider that is moved (the first one)")
    parser.add_argument("--moves", type=int, default=15)
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}; milliseconds, median (smallest to largest)")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as directory:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for name in arguments.names:
            page = Path(name)
            if page.suffix != ".html":
                page = Path(directory, f"{name.replace('/', '-')}.html")
                af.explore(name).save(page)
            knob = arguments.knob or CASES.get(name)
            _row(name, page, _times(browser, page, knob, arguments.moves))
        browser.close()


def _times(
    browser: Browser, file: Path, knob: str | None, moves: int
) -> dict[str, list[float]]:
    """Milliseconds by what is waited for."""
    times: dict[str, list[float]] = {"opened": [], "part": [], "whole": []}
    for opening in range(OPENINGS):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(_OPENED)
        # A new window loads parts of the browser's own surface, on the same cores.
        page.wait_for_timeout(SETTLED)
        page.goto(file.resolve().as_uri())
        times["opened"].append(page.evaluate("() => window.firstCurve"))
        if opening == OPENINGS - 1:
            page.wait_for_selector(
                "#page[data-runs]", state="attached", timeout=120_000
            )
            _move(page, knob or _first_slider(page), moves, times)
        page.close()
    return times


def _move(page: Page, knob: str, moves: int, times: dict[str, list[float]]) -> None:
    """Move a slider to and fro around its middle; the first two moves warm up."""
    page.set_default_timeout(120_000)
    for turn in range(moves + 2):
        share = 0.5 + 0.004 * (turn + 1) * (-1) ** turn
        part, whole = page.evaluate(_MOVED, {"knob": knob, "share": share})
        if turn > 1:
            times["part"].append(part)
            times["whole"].append(whole)


def _first_slider(page: Page) -> str:
    slider = page.locator(".knob:visible:has(input[type=range])").first
    return slider.get_attribute("data-knob") or ""


def _row(name: str, page: Path, times: dict[str, list[float]]) -> None:
    size = page.stat().st_size / 1000
    parts = [f"{label} {_spread(each)}" for label, each in times.items()]
    print(f"{name:24} {size:4.0f} kB  {'  '.join(parts)}", flush=True)


def _spread(times: Sequence[float]) -> str:
    return f"{statistics.median(times):5.0f} ({min(times):.0f}–{max(times):.0f})"


if __name__ == "__main__":
    main()
