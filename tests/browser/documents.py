"""Pages of experiments for tests, made by a process of its own.

Under pytest every shape in a signature is checked, which the symbols that stand for a
setting's numbers while it is traced do not pass.
"""

import subprocess
import sys

_MAKE = """
import sys
from attnflow.browser.explorer.document import document
from attnflow.browser.explorer.page import render
from attnflow.papers import paper
slug, id = sys.argv[1].split("/")
text = render(document(paper(slug), [id]))
open(sys.argv[2], "w", encoding="utf-8").write(text)
"""


def write_page(name, place):
    """Write the page of an experiment such as `mixture/figure1`."""
    subprocess.run([sys.executable, "-c", _MAKE, name, str(place)], check=True)
    return place
