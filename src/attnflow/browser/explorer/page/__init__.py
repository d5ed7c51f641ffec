"""The page of the explorer: templates, style and scripts, put into one HTML text."""

from attnflow.browser.explorer.page.template import contents_of as contents_of
from attnflow.browser.explorer.page.template import render as render
from attnflow.browser.explorer.page.template import render_shelf as render_shelf
