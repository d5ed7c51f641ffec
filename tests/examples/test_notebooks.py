"""Notebooks run from the first cell to the last, as Jupyter would run them."""

import time
from pathlib import Path

import pytest

import attnflow.figures

nbclient = pytest.importorskip("nbclient")
jupytext = pytest.importorskip("jupytext")
pytest.importorskip("ipykernel")

FOLDER = Path(__file__).resolve().parent.parent.parent / "examples/notebooks"
FAST = ("figure1",)
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
CASES = [
    pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow])
    for name in NAMES
]
# Kernels, and the libraries of Jupyter, warn of their own affairs.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", CASES)
def test_notebooks_run(name, tmp_path, store_of_its_own):
    if name == "own_checkpoint":
        pytest.importorskip("torch")
    if name == "attention_animation" and not hasattr(attnflow.figures, "animate"):
        pytest.skip("figures.animate is not there")
    notebook = jupytext.read(FOLDER / f"{name}.py")
    nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": tmp_path}}
    ).execute()
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    texts = "".join(o.get("text", "") for o in outputs)
    kinds = {kind for o in outputs for kind in o.get("data", {})}
    if name == "figure1":
        # Runs, papers and claims show as tables, figures as pictures.
        assert {"text/html", "image/png"} <= kinds
    if name in ("infinite_width", "phase_diagram"):
        assert "100%" in texts


@pytest.mark.slow
def test_an_interrupt_stops_a_run_and_leaves_the_kernel_alive(store_of_its_own):
    """The button with the square: the cell ends, and the kernel goes on.

    What was recorded is kept where the interrupt falls between two blocks of records.
    """
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel()
    try:
        # Half a minute in ten blocks; it prints when one of them is done.
        cell = client.execute(
            "import attnflow as af\n"
            "show = lambda fraction, text: fraction and print(fraction)\n"
            "run = None\n"
            "run = af.run('mixture/figure1', steps=3e6, records=1001, store=False,"
            " progress=show)"
        )
        _messages(client, cell, until="stream")
        manager.interrupt_kernel()
        errors = [m["content"].get("ename") for m in _messages(client, cell)]
        after = client.execute("print('outcome', run and run['outcome'].values)")
        said = "".join(m["content"].get("text", "") for m in _messages(client, after))
        assert "interrupted" in said or "KeyboardInterrupt" in errors, (said, errors)
        assert "outcome" in said
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _messages(client, cell, until="idle"):
    """Messages of a cell until it prints, or until it has ended."""
    messages, end = [], time.monotonic() + 240
    while time.monotonic() < end:
        message = client.get_iopub_msg(timeout=240)
        if message["parent_header"].get("msg_id") == cell:
            messages.append(message)
            state = message["content"].get("execution_state")
            if until in (message["msg_type"], state):
                return messages
    raise TimeoutError(until)
