"""What must be so of every page of a site, as a browser sees it."""

import functools
from pathlib import Path
from urllib.parse import unquote, urlparse

from tests.site.pages.html import Page

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}

_BROKEN_PICTURES = """() => [...document.images].filter((image) => {
  const box = image.getBoundingClientRect();
  const shown = box.width > 100 && box.height > 50;
  return !(image.complete && image.naturalWidth > 0 && shown);
}).map((image) => image.currentSrc || image.src)"""
# How far the page reaches beyond the window: parts may scroll, the page must not.
_OVERHANG = "document.documentElement.scrollWidth - window.innerWidth"
_UNSET = """[...document.querySelectorAll(".tex")]
  .filter((formula) => !formula.querySelector(".katex"))
  .map((formula) => formula.dataset.tex)"""
_LINKS = "[...document.links].map((link) => link.href)"
_OPEN_ALL = (
    """for (const part of document.querySelectorAll("details")) part.open = true"""
)
_SORTED = """(table) => {
  const faults = [];
  const key = (cell) => cell.dataset.key ?? cell.textContent.trim();
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    for (const [direction, sign] of [["ascending", 1], ["descending", -1]]) {
      head.querySelector("button").click();
      const keys = [...table.tBodies[0].rows].map((row) => key(row.cells[column]));
      const known = keys.filter((k) => k !== "");
      const numbers = known.every((k) => !isNaN(k));
      // Columns of numbers and words have no order of their own to be held to.
      const mixed = !numbers && known.some((k) => !isNaN(k));
      const order = (a, b) => sign * (numbers ? a - b : a.localeCompare(b));
      const falls = known.some((k, n) => n > 0 && order(known[n - 1], k) > 0);
      const empties = keys.slice(known.length).some((k) => k !== "");
      const said = head.getAttribute("aria-sort") === direction;
      if (!said || empties || (falls && !mixed)) faults.push([column, direction]);
    }
  });
  return faults;
}"""


def check_page(watched, place, site):
    """Everything that must be so of a page that lies in a site."""
    page = watched.open(place)
    assert watched.complaints == []
    assert outside(watched.requests, site) == []
    assert dead_links(page, site) == []
    for size in WIDTHS.values():
        check_width(page, size)
    page.evaluate(_OPEN_ALL)
    page.wait_for_function(f"() => {_UNSET}.length === 0", timeout=20_000)
    for table in page.query_selector_all("table[data-sortable]"):
        assert table.evaluate(_SORTED) == []
    assert watched.complaints == []


def check_width(page, size):
    """Figures are visible at this size of the window, and nothing hangs over."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    assert page.evaluate(_BROKEN_PICTURES) == []
    assert page.evaluate(_OVERHANG) <= 0


def outside(requests, site):
    """What was asked for that is not a file of the site."""
    return [url for url in requests if not _is_inside(url, site)]


def dead_links(page, site):
    """Links that lead out of the site, to no file, or to no place on a page."""
    return [url for url in dict.fromkeys(page.evaluate(_LINKS)) if _is_dead(url, site)]


def _is_dead(url, site):
    target, anchor = _file_of(url), unquote(urlparse(url).fragment)
    if not _is_inside(url, site) or not target.is_file():
        return True
    return bool(anchor) and anchor not in _ids_in(target)


@functools.cache
def _ids_in(file):
    return frozenset(Page(file.read_text(encoding="utf-8")).all("id"))


def _is_inside(url, site):
    if url.startswith("data:"):
        return True
    is_file = urlparse(url).scheme == "file"
    return is_file and _file_of(url).is_relative_to(site.resolve())


def _file_of(url):
    return Path(unquote(urlparse(url).path)).resolve()
