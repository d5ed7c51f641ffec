"""Pages of experiments for tests, made by a process of its own.

Under pytest every shape in a signature is checked, which the symbols that stand for a
setting's numbers while it is traced do not pass.
"""

import json
import subprocess
import sys

_MAKE = """
import json, sys
from attnflow.browser.explorer.document import document
from attnflow.browser.explorer.page import render
from attnflow.papers import paper
slug, ids, overrides, place = json.loads(sys.argv[1])
text = render(document(paper(slug), ids, overrides))
open(place, "w", encoding="utf-8").write(text)
"""


def write_page(slug, ids, place, overrides=None):
    """Write the page of some experiments of a paper."""
    task = json.dumps([slug, ids, overrides or {}, str(place)])
    subprocess.run([sys.executable, "-c", _MAKE, task], check=True)
    return place
