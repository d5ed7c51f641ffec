"""Progress in a notebook: a bar that comes late, is not shown too often, and goes."""

import sys
import types

import pytest

import attnflow as af
from attnflow.runs import progress
from attnflow.runs.progress import quiet, shown


class Kernel:
    """The face of IPython in a notebook, which remembers what a cell shows."""

    def __init__(self, monkeypatch, shell="ZMQInteractiveShell"):
        self.texts = []
        ipython, display = types.ModuleType("IPython"), types.ModuleType("display")
        ipython.__dict__["get_ipython"] = type(shell, (), {})
        display.__dict__.update(HTML=lambda text: text, display=self.display)
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def display(self, text, *, display_id):
        assert display_id is True
        self.texts.append(text)
        return self

    def update(self, text):
        self.texts.append(text)


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_bar_comes_after_a_second_and_goes(monkeypatch, clock):
    kernel = Kernel(monkeypatch)
    with shown(None) as bar:
        bar(0.1, "soon")
        clock[0] = 1.5
        bar(0.25, "<step> 5")
        clock[0] = 1.6
        bar(0.3, "too soon")
        clock[0] = 2.0
        bar(0.5, "step 10")
    first, second, last = kernel.texts
    assert 'value="0.250"' in first and "25% &lt;step&gt; 5" in first
    assert "50% step 10" in second
    assert last == ""


def test_short_work_shows_nothing(monkeypatch, clock):
    kernel = Kernel(monkeypatch)
    with shown(None) as bar:
        bar(0.5, "half")
    assert kernel.texts == []


def test_it_goes_where_the_work_is_interrupted(monkeypatch, clock):
    kernel = Kernel(monkeypatch)
    with pytest.raises(KeyboardInterrupt), shown(None) as bar:
        clock[0] = 2.0
        bar(0.5, "half")
        raise KeyboardInterrupt
    assert kernel.texts[-1] == ""


@pytest.mark.parametrize("shell", ["TerminalInteractiveShell", "NoneType"])
def test_there_is_none_outside_of_a_notebook(monkeypatch, shell):
    Kernel(monkeypatch, shell)
    with shown(None) as bar:
        assert bar is None


def test_there_is_none_without_ipython(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    with shown(None) as bar:
        assert bar is None


def test_the_users_own_comes_first(monkeypatch):
    Kernel(monkeypatch)
    with shown(quiet) as bar:
        assert bar is quiet
    quiet(0.5, "half")


def test_runs_and_verdicts_show_it(monkeypatch, toy, store_of_its_own):
    kernel = Kernel(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "PAUSE", -1.0)
    af.run("toy/flow")
    assert any("step 1" in text for text in kernel.texts) and kernel.texts[-1] == ""
    kernel.texts.clear()
    af.paper("toy").claims.verify(seeds=2, workers=0)
    assert any("of 2 claims" in text for text in kernel.texts)
    assert kernel.texts[-1] == ""


def test_what_is_shown_in_a_notebook_is_html(toy, store_of_its_own):
    table = af.paper("toy").claims.verify(seeds=2, workers=0)
    for view in (table, af.paper("toy"), af.paper("toy").claims):
        assert view._repr_html_().startswith("<")
