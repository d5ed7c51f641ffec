import shutil

import pytest

pytest.register_assert_rewrite("tests.site.browser.page_checks")

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
