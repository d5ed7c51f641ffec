"""The reference: every public name by room, for mkdocstrings, and every command."""

import ast
import importlib
import inspect
from collections import defaultdict
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

import typer.main
from tools.documentation.text import code, prose, table

import attnflow
from attnflow.observables import OBSERVABLES

SOURCE = Path(attnflow.__file__).parent.parent
# What `import attnflow as af` exports, by the room from which a name comes.
ROOMS = {
    "runs": "Run, verify, observe, store",
    "papers": "Papers and citations",
    "claims": "Claims and verdicts",
    "data": "Tasks and sequences",
    "models": "Problems, initial weights, values",
    "training": "Rules, schedules, stages",
    "experiments": "Experiments and mixtures of parts",
    "observables": "Curvature",
    "sweeps": "Sweeps",
    "site": "Figures and tables as files",
    "schema": "Declarations and outcomes",
}
# Packages with names of their own for whoever writes a paper or a figure.
PACKAGES = {
    "attnflow.claims": "Claims",
    "attnflow.claims.judges": "Judges",
    "attnflow.claims.stages": "Stages of learning",
    "attnflow.claims.statistics": "Statistics",
    "attnflow.figures": "Figures",
    "attnflow.figures.exhibits": "Kinds of exhibits",
    "attnflow.data": "Data",
    "attnflow.models.forms": "Forms",
    "attnflow.models.problem": "Problems",
    "attnflow.training": "Training",
    "attnflow.sweeps": "Sweeps",
    "attnflow.schema": "Schema of a run",
    "attnflow.testing": "Tests for papers",
}


def reference_pages() -> dict[str, str]:
    """The pages of the reference by their paths."""
    pages = {f"reference/api/{room}.md": text for room, text in _api().items()}
    for package, title in PACKAGES.items():
        pages[f"reference/packages/{package.removeprefix('attnflow.')}.md"] = _package(
            package, title
        )
    pages["reference/index.md"] = _index()
    pages["reference/commands.md"] = _commands()
    pages["reference/observables.md"] = _observables()
    return pages


def homes() -> dict[str, str]:
    """Where each name of `attnflow` is defined: `attnflow.runs.runner.run`."""
    names = [name for name in attnflow.__all__ if not name.startswith("_")]
    return {name: _home("attnflow", name) for name in names}


def _home(module: str, name: str) -> str:
    """Where a name is defined, followed through imports without importing anything."""
    for node in _body(module):
        if isinstance(node, ast.ImportFrom):
            if any((alias.asname or alias.name) == name for alias in node.names):
                source = resolve_name("." * node.level + (node.module or ""), module)
                # A function may have the name of the module that defines it.
                is_module = node.module is None and _path(f"{source}.{name}")
                return f"{source}.{name}" if is_module else _home(source, name)
        elif name in _names(node):
            return f"{module}.{name}"
    raise LookupError(f"{module} does not define {name}.")


@cache
def _body(module: str) -> list[ast.stmt]:
    """The statements of a module, or of the stub that says what it exports."""
    path = _path(module)
    assert path is not None, module
    return ast.parse(path.read_text("utf-8")).body


def _path(module: str) -> Path | None:
    base = SOURCE / module.replace(".", "/")
    names = (base / "__init__.pyi", base / "__init__.py", base.with_suffix(".py"))
    return next((path for path in names if path.is_file()), None)


def _names(node: ast.stmt) -> set[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    inner = [part for t in targets for part in getattr(t, "elts", [t])]
    return {t.id for t in inner if isinstance(t, ast.Name)}


def _api() -> dict[str, str]:
    by_room: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name, home in sorted(homes().items(), key=lambda item: item[0].lower()):
        by_room[home.split(".")[1]].append((name, home))
    missing = set(by_room) - set(ROOMS)
    assert not missing, f"Name the rooms {sorted(missing)} in {__name__}.ROOMS."
    pages = {}
    for room, title in ROOMS.items():
        names = by_room[room]
        parts = [f"# {title}", "As `af.NAME`, after `import attnflow as af`."]
        parts += [_entry(home, heading=f"af.{name}") for name, home in names]
        pages[room] = "\n\n".join(parts) + "\n"
    return pages


def _package(package: str, title: str) -> str:
    module = importlib.import_module(package)
    names = [n for n in module.__all__] if hasattr(module, "__all__") else []
    parts = [f"# {title}: `{package}`", inspect.cleandoc(module.__doc__ or "")]
    exported = set(homes().values())
    for name in sorted(names, key=str.lower):
        value = getattr(module, name)
        home = _home(package, name)
        if inspect.ismodule(value):
            parts.append(f"## {name}\n\nModule `{value.__name__}`: {_first(value)}")
        elif isinstance(value, str | tuple | frozenset):
            parts.append(f"## {name}\n\nConstant of `{home.rpartition('.')[0]}`.")
        elif home in exported:
            # Documented once, so that a link has one target.
            parts.append(f"## {name}\n\nSee [`af.{name}`][{home}].")
        elif home not in _SEEN:
            _SEEN.add(home)
            parts.append(_entry(home, heading=name))
        else:
            parts.append(f"## {name}\n\nSee [`{home}`][{home}].")
    return "\n\n".join(parts) + "\n"


_SEEN: set[str] = set()


def _first(module: object) -> str:
    return prose((module.__doc__ or "").strip().partition("\n")[0])


def _entry(home: str, *, heading: str) -> str:
    return f'::: {home}\n    options:\n      heading: "{heading}"'


def _index() -> str:
    rows = []
    for name, home in sorted(homes().items(), key=lambda item: item[0].lower()):
        doc = inspect.getdoc(getattr(attnflow, name)) or ""
        summary = doc.partition("\n")[0]
        rows.append(
            (f"[`af.{name}`](api/{home.split('.')[1]}.md#{home})", prose(summary))
        )
    packages = [
        (code(package), f"[{title}](packages/{package.removeprefix('attnflow.')}.md)")
        for package, title in PACKAGES.items()
    ]
    return (
        "# Reference\n\nEvery public name. `import attnflow as af` exports these:\n\n"
        f"{table(('name', 'what it is'), rows)}\n"
        "Whoever writes a paper or a figure also uses these packages:\n\n"
        f"{table(('package', 'names'), packages)}\n"
        "[Commands](commands.md), [observables](observables.md) and "
        "[environment variables](../environment.md) have pages of their own.\n"
    )


def _commands() -> str:
    from attnflow.cli.app import app

    group = typer.main.get_command(app)
    assert hasattr(group, "commands")
    parts = ["# Commands", "What `attnflow COMMAND --help` prints, on one page."]
    for name, command in group.commands.items():  # pyright: ignore[reportAttributeAccessIssue]
        parts.append(_command(f"attnflow {name}", command))
        for inner, sub in getattr(command, "commands", {}).items():
            parts.append(_command(f"attnflow {name} {inner}", sub))
    return "\n\n".join(parts) + "\n"


def _command(name: str, command: Any) -> str:
    rows = []
    for parameter in command.params:
        if parameter.name == "help":
            continue
        names = ", ".join((*parameter.opts, *parameter.secondary_opts))
        value = parameter.metavar or ""
        is_option = parameter.param_type_name == "option"
        spelled = f"{names} {value}" if is_option else value or parameter.name.upper()
        rows.append(
            (code(spelled.strip()), prose(getattr(parameter, "help", "") or ""))
        )
    text = inspect.cleandoc(command.help or "").partition("\f")[0]
    listing = table(("argument or option", "meaning"), rows) if rows else ""
    return f"## {name}\n\n{prose(text)}\n\n{listing}"


def _observables() -> str:
    rows = [
        (code(name), prose(observable.about), ", ".join(map(code, observable.dims)))
        for name, observable in sorted(OBSERVABLES.items())
    ]
    intro = (
        "Named functions of a state that a run records: "
        '`af.run(…, record=["loss", "score"])`. Beside its own dims, each has `seed` '
        "and `time`. Next-token prediction and deep networks have registries of their "
        "own."
    )
    listing = table(("observable", "what it is", "dims"), rows)
    return f"# Observables\n\n{intro}\n\n{listing}"
