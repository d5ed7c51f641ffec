"""Pages of experiments for tests, made by a process of its own.

Under pytest every shape in a signature is checked, which the symbols that stand for a
setting's numbers while it is traced do not pass.
"""

import fcntl
import json
import os
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


def mixture_page(factory):
    """The page of two experiments, made once for all modules and workers of pytest."""
    base = factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    place = folder / "explorer" / "mixture.html"
    place.parent.mkdir(exist_ok=True)
    with (folder / "explorer.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            write_page("mixture", ["figure1", "stage1"], place)
    return place
