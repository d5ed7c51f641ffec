"""Debian's Chromium for tests that look at pages, and a page that is watched."""

import shutil

import pytest

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, with a fresh profile."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium: `make test` installs it, or apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def context(browser):
    """A fresh profile, without motion so that pictures keep still."""
    with browser.new_context(reduced_motion="reduce") as fresh:
        yield fresh


class Watched:
    """A page that remembers what went wrong on it, and what it asked for."""

    def __init__(self, context):
        self.page = context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, place, anchor=""):
        """Go to a file and wait until all of it is loaded."""
        self.page.goto(place.as_uri() + anchor, timeout=120_000)
        return self.page
