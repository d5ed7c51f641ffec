"""Figures and tables of papers, made side by side and put together into a site."""

from attnflow.reproducing.drive import Wanted as Wanted
from attnflow.reproducing.drive import draw as draw
from attnflow.reproducing.drive import draw_or_leave as draw_or_leave
from attnflow.reproducing.drive import reproduce_exhibits as reproduce_exhibits
from attnflow.reproducing.drive import up_to_date as up_to_date
from attnflow.reproducing.export import export_site as export_site
from attnflow.reproducing.pages import known_rows as known_rows
from attnflow.reproducing.pages import write_pages as write_pages
from attnflow.reproducing.pages import write_site_index as write_site_index
