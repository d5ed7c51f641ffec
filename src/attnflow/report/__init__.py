"""Figures and tables as files, a page per paper, and a site over all papers."""

from attnflow.report.compare import Compared as Compared
from attnflow.report.compare import compare as compare
from attnflow.report.exhibit import make_exhibit as make_exhibit
from attnflow.report.files import copy_file as copy_file
from attnflow.report.index import write_index as write_index
from attnflow.report.page import write_page as write_page
from attnflow.report.result import ExhibitResult as ExhibitResult
from attnflow.report.result import earlier_reason as earlier_reason
from attnflow.report.result import earlier_result as earlier_result
from attnflow.report.result import keep_reason as keep_reason
from attnflow.report.runs import RunRecord as RunRecord
from attnflow.report.runs import record_run as record_run
from attnflow.report.site import Place as Place
