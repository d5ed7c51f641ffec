"""Film the explorer for the README: a slider moves, curves and attention follow.

    python tools/film.py                   docs/explorer.html → docs/explorer.gif
    python tools/film.py PAGE.html OUT.gif

First the time of the run goes from its start to its end, then the initial scale ω goes
down and up again, and the page trains the transformer at each of its values. Needs
Chromium and playwright, as the tests in a browser do (`make browser`, `make setup`).
"""

import argparse
import io
import shutil
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).resolve().parent.parent / "docs"
WIDTH = 1440
HEIGHT = 682
"""Pixels below the top of the controls that are shown."""
SCALE = 0.8
KNOB = "omega"
# Shares of the way along a slider: there and back to where it began.
TIMES = [n / 22 for n in range(23)]
PLACES = [0.5, 0.4, 0.3, 0.2, 0.1, 0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 1]
PLACES += [0.9, 0.8, 0.7, 0.6, 0.5]
FRAME, PAUSE = 110, 1200
"""Milliseconds of a frame, and of one that is looked at."""
EXACT = 64
"""The most frequent colours, which stay what they are; others may be near theirs."""
LARGEST = 1_500_000
"""Bytes of a picture that a README may load."""

_SLIDE = """(slider, { place, event }) => {
  const [low, high] = [slider.min, slider.max].map(Number);
  slider.value = low + place * (high - low);
  slider.dispatchEvent(new Event(event, { bubbles: true }));
}"""


def main() -> None:
    """Film a page, and say how large the film is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", nargs="?", type=Path, default=DOCS / "explorer.html")
    parser.add_argument("out", nargs="?", type=Path, default=DOCS / "explorer.gif")
    arguments = parser.parse_args()
    frames = film(arguments.page)
    write(frames, arguments.out)
    size = arguments.out.stat().st_size
    print(f"{arguments.out}: {len(frames)} frames, {size / 1000:.0f} kB")
    if size > LARGEST:
        raise SystemExit(f"more than {LARGEST / 1000:.0f} kB: take fewer frames")


def film(file: Path) -> list[tuple[Image.Image, int]]:
    """Frames of a page with the milliseconds of each."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        size = {"width": WIDTH, "height": 900}
        page = browser.new_page(viewport=size, reduced_motion="reduce")  # pyright: ignore[reportArgumentType] # a TypedDict
        page.goto(file.resolve().as_uri())
        frames = list(_scenes(page))
        browser.close()
    return frames


def _scenes(page: Page) -> Iterator[tuple[Image.Image, int]]:
    _wait(page, 1)
    clip = _clip(page)
    for place in TIMES:
        page.locator("#transport input[type=range]").evaluate(
            _SLIDE, {"place": place, "event": "input"}
        )
        yield _frame(page, clip), PAUSE if place in (0, 1) else FRAME
    for place in PLACES:
        count = _runs(page)
        page.locator(f"[data-knob={KNOB}] input[type=range]").evaluate(
            _SLIDE, {"place": place, "event": "change"}
        )
        _wait(page, count + (place != PLACES[0]))
        yield _frame(page, clip), PAUSE if place in (0, 1) else FRAME


def _clip(page: Page) -> dict[str, float]:
    """From the preset down, without the margin of the page."""
    page.locator("#preset-set").evaluate("e => window.scrollTo(0, e.offsetTop - 40)")
    top = page.locator("#preset-set").bounding_box() or {"y": 0}
    y = max(top["y"] - 24, 0)
    return {"x": 0, "y": y, "width": WIDTH, "height": HEIGHT}


def _runs(page: Page) -> int:
    return int(page.get_attribute("#page", "data-runs") or 0)


def _wait(page: Page, count: int) -> None:
    """Until the page has finished so many runs, for at most ten seconds."""
    for _ in range(500):
        if _runs(page) >= count:
            return
        page.wait_for_timeout(20)
    raise SystemExit("the page did not finish its run")


def _frame(page: Page, clip: dict[str, float]) -> Image.Image:
    page.wait_for_timeout(40)
    shot = page.screenshot(clip=clip)  # pyright: ignore[reportArgumentType] # a TypedDict of floats
    image = Image.open(io.BytesIO(shot)).convert("RGB")
    size = (round(image.width * SCALE), round(image.height * SCALE))
    return image.resize(size, Image.Resampling.LANCZOS)


def write(frames: list[tuple[Image.Image, int]], out: Path) -> None:
    """A GIF in one palette, so that what does not move costs nothing."""
    shown = [image for image, duration in frames if duration == PAUSE]
    width, height = shown[0].size
    sheet = Image.new("RGB", (width, height * len(shown)))
    for n, image in enumerate(shown):
        sheet.paste(image, (0, n * height))
    counts = sheet.getcolors(width * height * len(shown)) or []
    frequent = [colour for _, colour in sorted(counts, reverse=True)[:EXACT]]
    others = sheet.quantize(256 - EXACT, Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = Image.new("P", (1, 1))
    exact = [part for colour in frequent for part in colour]  # pyright: ignore[reportGeneralTypeIssues] # RGB
    palette.putpalette((exact + others)[: 3 * 256])
    images = [
        image.quantize(palette=palette, dither=Image.Dither.NONE) for image, _ in frames
    ]
    durations = [duration for _, duration in frames]
    images[0].save(
        out, save_all=True, append_images=images[1:], duration=durations, loop=0
    )


if __name__ == "__main__":
    main()
