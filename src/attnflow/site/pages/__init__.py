"""Figures and tables as files, a page per paper, and a site over all papers."""

from attnflow.site.pages.exhibit import ExhibitResult as ExhibitResult
from attnflow.site.pages.exhibit import earlier_reason as earlier_reason
from attnflow.site.pages.exhibit import earlier_result as earlier_result
from attnflow.site.pages.exhibit import keep_reason as keep_reason
from attnflow.site.pages.exhibit import make_exhibit as make_exhibit
from attnflow.site.pages.files import Place as Place
from attnflow.site.pages.files import copy_file as copy_file
from attnflow.site.pages.page import write_index as write_index
from attnflow.site.pages.page import write_page as write_page
from attnflow.site.pages.runs import RunRecord as RunRecord
from attnflow.site.pages.runs import record_run as record_run
from attnflow.site.pages.values import Compared as Compared
from attnflow.site.pages.values import compare as compare
