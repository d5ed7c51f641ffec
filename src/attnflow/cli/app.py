"""The program `attnflow`: its commands, and what holds for all of them.

Each command's heavy imports are inside the command, so that help comes at once.
"""

import gc
import os
import signal
import sys
import warnings
from typing import Annotated, Any

import typer

from attnflow._version import __version__
from attnflow.cli.catalogue import cite, list_all, new_paper
from attnflow.cli.demo import demo
from attnflow.cli.explore import explore
from attnflow.cli.export_claims import export_claims
from attnflow.cli.machine import bench, data, doctor
from attnflow.cli.observe import observe
from attnflow.cli.output import INTERRUPTED, leave, warn
from attnflow.cli.reproduce import reproduce
from attnflow.cli.results import diff, export, export_site, runs
from attnflow.cli.run import run
from attnflow.cli.store import store
from attnflow.cli.sweep import sweep
from attnflow.cli.verify import verify

app = typer.Typer(
    name="attnflow",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _add(panel: str, name: str, command: Any, about: str, *, bare: bool = True) -> None:
    """Add a command under a heading of the help; not `bare`: it needs arguments."""
    options: dict[str, Any] = {"rich_help_panel": panel, "short_help": about}
    app.command(name, no_args_is_help=not bare, **options)(command)


PAPERS, YOURS, KEPT, MACHINE = (
    "Papers",
    "Your own settings, weights and papers",
    "Results",
    "This machine",
)
_add(PAPERS, "demo", demo, "Show one paper's headline result, start to finish.")
_add(PAPERS, "list", list_all, "List papers, experiments, figures and claims.")
_add(PAPERS, "run", run, "Run one experiment, or read its stored run.", bare=False)
_add(PAPERS, "reproduce", reproduce, "Draw a paper's figures and tables.")
_add(PAPERS, "verify", verify, "Check a paper's claims and print their verdicts.")
_add(PAPERS, "explore", explore, "Write pages with sliders that run in a browser.")
_add(PAPERS, "cite", cite, "Print BibTeX for a paper and for attnflow.", bare=False)
_add(YOURS, "sweep", sweep, "Run an experiment over a grid of settings.", bare=False)
_add(YOURS, "observe", observe, "Convert your own checkpoints into a run.", bare=False)
_add(
    YOURS,
    "new-paper",
    new_paper,
    "Create a package for a paper of your own.",
    bare=False,
)
_add(KEPT, "runs", runs, "List the stored runs, newest first.")
_add(KEPT, "diff", diff, "Compare two claims tables.", bare=False)
_add(KEPT, "export", export, "Write a stored run as netCDF.", bare=False)
_add(
    KEPT,
    "export-site",
    export_site,
    "Write figures and pages as a static site.",
    bare=False,
)
_add(
    *(KEPT, "export-claims", export_claims),
    "Write verdicts as folders for referees.",
    bare=False,
)
_add(MACHINE, "doctor", doctor, "Show versions, directories and variables.")
_add(MACHINE, "bench", bench, "Benchmark reduced forms against PyTorch.")
app.add_typer(data, name="data", rich_help_panel=MACHINE)
app.add_typer(store, name="store", rich_help_panel=KEPT)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print(f"attnflow {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Compute how shallow transformers learn, and check what theory papers say.

    Start with `attnflow demo` or `attnflow list`. Every command takes --json FILE.

    Exit codes: 0 success; 1 a verdict or a number differs from the recorded one;
    2 wrong usage; 130 interrupted.
    """


def main() -> None:
    """Run the program."""
    # A shell starts its background jobs with interrupts ignored; `kill -INT` on one
    # is meant all the same.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Checks inside of compiled flows call back to Python, and such a program cannot be
    # kept between sessions: to compile it again is most of a flow's time. What they
    # check (times in order, within the flow's span) is so by construction.
    os.environ.setdefault("EQX_ON_ERROR", "off")
    # Nobody replaces functions of attnflow in a process of this program.
    os.environ.setdefault("ATTNFLOW_TRACES", "kept")
    # Most objects of a short program live until it ends: looking for those that do not
    # takes a tenth of its time.
    gc.set_threshold(200_000, 20, 20)
    is_alone = sys.argv[1:2] in (["run"], ["demo"], ["export"], ["observe"])
    if is_alone and "xarray" not in sys.modules:
        # Where Dask is installed, xarray imports it (a third of a second) to see
        # whether an array is one of Dask's. Here none is.
        sys.modules.setdefault("dask", None)  # pyright: ignore[reportArgumentType] # Python's way to say "not to be imported"
    warnings.showwarning = warn
    try:
        app(prog_name="attnflow")
    except KeyboardInterrupt:
        leave(INTERRUPTED)
    except SystemExit as end:
        leave(end.code)
