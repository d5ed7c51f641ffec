"""Figures and tables of papers, made side by side and put together into a site."""

from attnflow.site.reproducing.drive import Wanted as Wanted
from attnflow.site.reproducing.drive import draw as draw
from attnflow.site.reproducing.drive import draw_or_leave as draw_or_leave
from attnflow.site.reproducing.drive import reproduce_exhibits as reproduce_exhibits
from attnflow.site.reproducing.drive import up_to_date as up_to_date
from attnflow.site.reproducing.export import export_site as export_site
from attnflow.site.reproducing.pages import known_rows as known_rows
from attnflow.site.reproducing.pages import write_pages as write_pages
from attnflow.site.reproducing.pages import write_site_index as write_site_index
