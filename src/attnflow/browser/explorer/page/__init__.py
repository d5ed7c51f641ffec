"""The page of the explorer: templates, style and scripts, put into one HTML text."""

from attnflow.browser.explorer.page.template import render as render
