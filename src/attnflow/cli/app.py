"""The program `attnflow`: its commands, and what holds for all of them.

Each command's heavy imports are inside the command, so that help comes at once.
"""

import gc
import os
import signal
import sys
import warnings
from typing import Annotated

import typer

from attnflow._version import __version__
from attnflow.cli.catalogue import cite, list_all, new_paper
from attnflow.cli.demo import demo
from attnflow.cli.explore import explore
from attnflow.cli.machine import bench, data, doctor
from attnflow.cli.observe import observe
from attnflow.cli.output import INTERRUPTED, complain, leave
from attnflow.cli.reproduce import reproduce
from attnflow.cli.results import diff, export, export_site, runs
from attnflow.cli.run import run
from attnflow.cli.sweep import sweep
from attnflow.cli.verify import verify

app = typer.Typer(
    name="attnflow",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo)
app.command("list")(list_all)
app.command("run", no_args_is_help=True)(run)
app.command("observe", no_args_is_help=True)(observe)
app.command("reproduce")(reproduce)
app.command("verify")(verify)
app.command("diff", no_args_is_help=True)(diff)
app.command("sweep", no_args_is_help=True)(sweep)
app.command("bench")(bench)
app.command("runs")(runs)
app.command("export", no_args_is_help=True)(export)
app.command("export-site", no_args_is_help=True)(export_site)
app.command("explore")(explore)
app.command("cite", no_args_is_help=True)(cite)
app.command("doctor")(doctor)
app.command("new-paper", no_args_is_help=True)(new_paper)
app.add_typer(data, name="data")


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print(f"attnflow {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Which version."
        ),
    ] = False,
) -> None:
    """How shallow transformers learn, and whether it is as the papers say.

    Exit codes: 0 success; 1 a verdict or a number differs from the recorded one;
    2 wrong usage; 130 interrupted.
    """


def main() -> None:
    """Run the program."""
    # A shell starts its background jobs with interrupts ignored; `kill -INT` on one
    # is meant all the same.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Checks inside of compiled flows call back to Python, and JAX keeps no such program
    # between sessions: that is most of a flow's time. What they check (times in order,
    # within the flow's span) is so by construction.
    os.environ.setdefault("EQX_ON_ERROR", "off")
    # Most objects of a short program live until it ends: looking for those that do not
    # takes a tenth of its time.
    gc.set_threshold(200_000, 20, 20)
    is_alone = sys.argv[1:2] in (["run"], ["demo"], ["export"], ["observe"])
    if is_alone and "xarray" not in sys.modules:
        # Where Dask is installed, xarray imports it (a third of a second) to see
        # whether an array is one of Dask's. Here none is.
        sys.modules.setdefault("dask", None)  # pyright: ignore[reportArgumentType] # Python's way to say "not to be imported"
    warnings.showwarning = lambda message, *_, **__: complain(f"Warning: {message}")
    try:
        app(prog_name="attnflow")
    except KeyboardInterrupt:
        leave(INTERRUPTED)
    except SystemExit as end:
        leave(end.code)
