"""Figures and tables of papers, made and put together into a site."""

from attnflow.reproducing.pages import known_rows as known_rows
from attnflow.reproducing.pages import write_pages as write_pages
from attnflow.reproducing.pages import write_site_index as write_site_index
