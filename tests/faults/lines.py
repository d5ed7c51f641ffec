"""Command lines and calls, from the declarations of commands and of settings.

Values are in range, at an edge, out of range, of the wrong type, or unknown names. What
decides the size of a computation stays small where it is in range, so that a line that
is right takes a moment: the largest sizes are legal, and take what they take.
"""

import dataclasses
import functools
import math
import typing

import typer
from hypothesis import strategies as st

from attnflow.cli.app import app
from attnflow.papers import papers
from attnflow.runs.runner import find_source
from attnflow.schema import settings as door
from attnflow.schema.fields import LARGEST, TRACED, Duration, Range

CHEAP = (
    "mixture/figure1",
    "mixture/attention-only",
    "mixture/initial-margin",
    "mixture/concentration",
    "cooccurrence/figure1",
    "cooccurrence/token-svm",
    "signgd/setting-a",
    "vit/figure1",
    "scansnap/figure4-left",
    "mix/mixture",
)
"""Experiments that are computed; of the others only what is refused is asked for."""
STRANGE = ("", "x", "nan", "inf", "-inf", "1e400", "0x10", "1,2", "∞", "-", "--", "=")
NAMES = ("", "/", "//", "nonsense", "mixture/", "mixture/nonsense", "mixture/figure1/x")
PATHS = (
    *("file.txt", "arrays.npz", "hostile.npz", "model.pt", "run.nc", "table.json"),
    *("new.out", "folder", "missing/new.out", "", "circle", "link", "ü β.out"),
    *("x" * 300, "folder/inside.out", "run.run"),
)
"""Files of the scratch folder, made by `furnish`, and some that are not there."""
TEXTS = ("loss", "accuracy", "score", "nonsense", "loss,loss", ",", "")
MEASURES = (
    *("loss", "loss@0.1", "loss~loglog", "loss^max", "accuracy", "B-L6.1", "nonsense"),
    *("", "@", "loss@", "loss@nan", "loss~", "loss^", "loss@0.1@2", "B-none"),
)
NUMBERS = ("1", "2", "0", "-1", "1.5", "nan", "inf", "x", "", "10000000000000000000000")
FLAG = object()
KINDS = ("cheap", "cheap", "refused", "unknown")
"""Kinds of experiments: with one value that may be wrong, surely wrong, not there."""
RIGHT = {
    "json": ("-", "new.json"),
    "seeds": ("1", "2"),
    "at": ("0,1",),
    "record": ("loss",),
    "out": ("new.nc",),
    "measure": ("loss", "loss^max", "loss@0.1"),
    "batch": ("1", "2"),
    "only": ("holds",),
    "paper": ("mixture", "vit"),
    ("reproduce", "out"): ("made",),
    ("new-paper", "name"): ("needle", "pin"),
    ("new-paper", "into"): ("folder",),
    ("export-site", "target"): ("public",),
    ("export-site", "source"): ("made",),
    ("diff", "old"): ("table.json",),
    ("diff", "new"): ("table.json",),
    ("data", "name"): ("mnist",),
}
"""Values of options that are right."""
SMALL = {"seeds": "12", "batch": "12", "coarse": "1248", "workers": "0"}


@functools.cache
def recipes():
    """Every experiment by its name."""
    every = [*papers().values(), find_source("mix")]
    return {f"{p.slug}/{r.id}": r for p in every for r in p.recipes}


@functools.cache
def commands():
    """Parameters of every command, by its words."""
    found = {}

    def walk(group, words):
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                walk(command, (*words, name))
            else:
                found[*words, name] = [p for p in command.params if p.name != "help"]

    walk(typer.main.get_command(app), ())
    return found


def right_values(hint):
    """Values that a field takes, as a user types them."""
    options = [_right(option) for option in door._options(hint)]
    return st.one_of(*options)


def _right(option):
    kind, limits = door._bounds(option)
    if typing.get_origin(kind) is typing.Literal:
        return st.sampled_from([str(value) for value in typing.get_args(kind)])
    if typing.get_origin(kind) is tuple:
        inner = right_values(typing.get_args(kind)[0])
        return st.lists(inner, min_size=1, max_size=3).map(",".join)
    if kind in (int, float):
        return st.sampled_from(_in_range(option, kind, limits))
    names = {type(None): ("none",), bool: ("true", "no"), str: TEXTS[:4]}
    return st.sampled_from(names[kind])


def _in_range(option, kind, limits):
    limit = next((limit for limit in limits if isinstance(limit, Range)), Range())
    low = 0 if math.isinf(limit.low) or limit.low < -1000 else limit.low
    step = 1 if kind is int else 0.25
    values = [low + step, low + 2 * step] + ([] if limit.above else [low])
    is_free = kind is float or TRACED in getattr(option, "__metadata__", ())
    if option is not Duration and is_free and not limit.below and limit.high < 1e308:
        # The largest number costs nothing; the largest size is not for a test.
        values.append(limit.high)
    values = [value for value in values if door._admits(limit, value)]
    return [repr(int(v)) if kind is int else repr(float(v)) for v in values]


def wrong_values(hint):
    """Texts that a field may refuse: out of range, of another type, empty."""
    texts = list(STRANGE)
    for option in door._options(hint):
        _, limits = door._bounds(option)
        for limit in (limit for limit in limits if isinstance(limit, Range)):
            texts += [repr(limit.low - 1), repr(limit.high * 10), str(10**30)]
    return st.sampled_from(texts)


@st.composite
def overrides(draw, name, *, refused):
    """Settings of an experiment.

    If `refused` is true, one of them is wrong for certain; if it is `None`, one may be.
    """
    recipe = recipes()[name]
    hints = typing.get_type_hints(type(recipe.setting), include_extras=True)
    keys = [field.name for field in dataclasses.fields(recipe.setting)]
    chosen = draw(st.lists(st.sampled_from(keys), max_size=3, unique=True))
    settings = {key: draw(right_values(hints[key])) for key in chosen}
    if refused:
        kind = draw(st.sampled_from(["unknown", "wrong"]))
        key = draw(st.sampled_from(keys))
        if kind == "unknown":
            settings["no_such_setting"] = "1"
        elif takes_texts(hints[key]):
            settings[key + "s"] = "1"
        else:
            settings[key] = draw(st.sampled_from(["", "∞", "0x10"]))
    elif refused is None:
        key = draw(st.sampled_from(keys))
        settings[key] = draw(wrong_values(hints[key]))
    short = {key: "2" for key in keys if hints[key] is Duration or key == "steps"}
    short |= {"records": "3"} if "records" in keys else {}
    return {**short, **settings}


def takes_texts(hint):
    """Whether any text is a value, or nothing is: then none can be wrong."""
    kinds = [door._bounds(option)[0] for option in door._options(hint)]
    return any(k is str or typing.get_origin(k) is tuple for k in kinds)


@st.composite
def experiments(draw, kinds=KINDS):
    """The name of an experiment, and settings for it."""
    kind = draw(st.sampled_from(kinds))
    if kind == "unknown":
        return draw(st.sampled_from(NAMES)), {"width": "4"}
    name = draw(st.sampled_from(list(recipes()) if kind == "refused" else CHEAP))
    refused = {"right": False, "cheap": None, "refused": True}[kind]
    return name, draw(overrides(name, refused=refused))


@st.composite
def command_lines(draw):
    """The words of a command line."""
    words = draw(st.sampled_from([w for w in commands() for _ in range(_weight(w))]))
    right = draw(st.booleans())
    experiment, settings = draw(experiments(("right",) if right else KINDS))
    arguments, options = [], []
    for param in commands()[words]:
        values = _values(draw, words, param, experiment, settings, right=right)
        if param.opts[0].startswith("-"):
            words_of = [[] if value is FLAG else [value] for value in values]
            options += [word for w in words_of for word in (param.opts[-1], *w)]
        else:
            arguments += values
    line = [*words, *arguments, *options]
    return line if right and words not in _DEAR else _spoiled(draw, words, line)


def _weight(words):
    weights = {("run",): 10, ("sweep",): 8, ("verify",): 4, ("observe",): 3}
    return weights.get(words, 1)


# Commands that take minutes, or the network, where nothing is wrong.
_DEAR = (("demo",), ("bench",), ("data", "fetch"))


def _spoiled(draw, words, line):
    """The line, or one with a slip of the keyboard; dear ones always have one."""
    slips = [["--nonsense"], ["--json"], ["extra", "words"], ["--seeds", "0"], ["-z"]]
    if words in _DEAR:
        return [*line, "--nonsense"]
    if draw(st.integers(0, 7)) == 0:
        return [*line, *draw(st.sampled_from(slips))]
    return line


def _values(draw, words, param, experiment, settings, *, right):
    """The words that a parameter is given, which are none where it is a `FLAG`."""
    name = param.name
    if name == "experiment":
        return [experiment]
    if name == "settings":
        texts = [f"{key}={value}" for key, value in settings.items()]
        if words == ("sweep",):
            key = "omega" if experiment.startswith("mix") else "steps"
            texts = [text for text in texts if not text.startswith(f"{key}=")]
            texts += draw(st.sampled_from([[f"{key}=1,2"], [f"{key}=1..2:2"]]))
        return texts
    if name == "arguments":
        return draw(st.lists(st.sampled_from(PATHS[:6]), min_size=1, max_size=2))
    # Without these, the whole ledger and all figures would be computed.
    always = {"target": TARGETS.get(words), "executor": ("here", "nowhere")}
    always |= {"workers": ("0",)} if words != ("sweep",) else {}
    if always.get(name):
        return [always[name][0] if right else draw(st.sampled_from(always[name]))]
    if words == ("reproduce",) and name == "quick":
        return [FLAG]
    if not param.required and draw(st.integers(0, 3)):
        return []
    if getattr(param, "is_flag", False):
        return [FLAG] if name not in ("witness", "maps") else []
    if right:
        texts = RIGHT.get((words[0], name)) or RIGHT.get(name, ())
        return [draw(st.sampled_from(texts))] if texts else []
    return [draw(_texts_for(name))]


TARGETS = {
    ("verify",): ("mixture/B-L6.1", *NAMES[1:]),
    ("reproduce",): ("mixture/figure1a", *NAMES[1:]),
}
_POOLS = {
    "paper": ("mixture", "mix", "nonsense", "", "mixture/figure1", "vit/none"),
    "name": ("needle", "Bad Name", "../x", "", "class", "mixture", "1x", "W_K=a", "="),
    "run": (*PATHS, "0", "abc", "..", "*"),
    "only": ("holds", "B-*", "nonsense", "", "theorem", "["),
    "measure": MEASURES,
    "zip": ("omega,bias", "omega", "", ",", "omega,omega", "steps,omega"),
    "refine": ("0.5", "nan", "x", "holds", ""),
    "at": ("0,1", "nan", "-1", "inf", "", "1e400", "0,,1", "x"),
    "record": TEXTS,
    "scheduler": ("tcp://127.0.0.1:1", "x", ""),
    "json": ("-", "-", *PATHS),
    **dict.fromkeys(
        ("out", "netcdf", "into", "site", "source", "data", "weights", "old", "new"),
        PATHS,
    ),
    "target": ("folder", "file.txt", "made", "missing/made", ""),
}


def _texts_for(name):
    texts = _POOLS.get(name, NUMBERS)
    small = [*SMALL.get(name, ())]
    if name in ("seeds", "batch", "coarse", "workers"):
        # Numbers that are right are small; others are wrong.
        texts = [*small, *(text for text in NUMBERS if text not in ("1", "2"))]
    return st.sampled_from(texts)


@st.composite
def calls(draw):
    """A call of the Python interface as an expression, with `af`, `np` and numbers."""
    right = draw(st.booleans())
    # What is refused as a text may be right as a number.
    kinds = ("right",) if right else ("right", "cheap", "unknown")
    name, settings = draw(experiments(kinds=kinds))
    kind = draw(st.sampled_from(["run", "run", "sweep", "verify", "paper", "other"]))
    if kind == "paper":
        slug = draw(st.sampled_from(("'mixture'", "''", "3", "None", "'nonsense'")))
        part = draw(st.sampled_from((".claims['x']", ".recipe('x')", "", ".claim(1)")))
        return f"af.paper({slug}){part}"
    if kind == "verify":
        ids = draw(st.sampled_from(("'B-L6.1'", "'x'", "3", "None", "''")))
        seeds = draw(st.sampled_from(ODD_SEEDS))
        return f"af.paper('mixture').claims.verify({ids}, seeds={seeds}, workers=0)"
    if kind == "other":
        return draw(st.sampled_from(OTHER_CALLS))
    words = {key: draw(_expressions(text, right)) for key, text in settings.items()}
    if kind == "sweep":
        key = "omega" if name.startswith("mix") else "steps"
        words[key] = draw(st.sampled_from(ODD_AXES[:2] if right else ODD_AXES))
        words["executor"] = "'here'"
        measures = [repr(measure) for measure in MEASURES]
        measures = measures[:4] if right else [*measures, "3", "[]"]
        words["measure"] = draw(st.sampled_from(measures))
    seeds = draw(st.sampled_from(ODD_SEEDS[:4] if right else ODD_SEEDS))
    if kind == "run" and not right:
        key, _, value = draw(st.sampled_from(ODD_INPUTS)).partition("=")
        words[key] = value
    given = "".join(f", {key}={value}" for key, value in words.items())
    return f"af.{kind}({name!r}, seeds={seeds}{given})"


ODD_SEEDS = (
    *("1", "2", "None", "[0, 1]", "0", "-1", "1.5", "nan", "'2'", "[]", "[0, 0]"),
    *("True", "10**22", "[1.5]", "[None]", "np.arange(2)", "{0}", "b'1'"),
)
ODD_AXES = (
    *("[0.1, 0.2]", "np.array([0.1, 0.2])", "[nan]", "[nan, 0.1]", "[]", "'0.1..1:2'"),
    *("'0.1..'", "[[0.1], [0.2]]", "None", "[None]", "0.1", "[10**400]", "'a,b'"),
    *("np.zeros((2, 2))", "['0.1', 0.2]", "[True]", "{'a': 1}", "b'0.1'", "[1j, 2j]"),
)
ODD_INPUTS = (
    *("weights={}", "weights={'W_K': np.zeros(3)}", "weights={'W_K': np.array(['a'])}"),
    *("weights='file.txt'", "weights='missing.npz'", "data={'x': [1j]}", "data=3"),
    *("weights={'W_K': [[1], [1, 2]]}", "data='hostile.npz'", "record='loss'"),
    *("record=['nonsense']", "record=[3]", "record=3", "at=[nan]", "at=[-1]", "at=3"),
    *("at=['x']", "at=[10**400]", "store=False", "at=np.arange(3)", "record=[]"),
    *("weights={3: np.zeros(3)}", "weights=b'x'", "at=[0, 1e300]"),
)
OTHER_CALLS = (
    *("af.run(3)", "af.run(None)", "af.run('')", "af.run('mixture')", "af.run(b'x')"),
    *("af.sweep('mixture/figure1')", "af.sweep(3, a=[1])", "af.sweep('', omega=[1])"),
    *(
        "af.citation('x')",
        "af.citation(3)",
        "af.citation('')",
        "af.Store('s').read('x')",
    ),
    *("af.Store('s').read('../x')", "af.Store('s').find('')", "af.Store('s').list()"),
    *("af.Store('file.txt').list()", "af.Store('file.txt').check_writable()"),
    *("af.read_run_file('file.txt')", "af.read_run_file('missing')"),
    *("af.read_run_file('folder')", "af.read_run_file('hostile.npz')"),
    *("af.export_netcdf(3, 'x.nc')", "af.reproduce('x')", "af.reproduce('mixture/x')"),
    *("af.reproduce('mixture/figure1a', quick=True, out='file.txt', workers=0)",),
    *("af.observe('mixture/figure1', {})", "af.observe('mixture/figure1', 3)"),
    *(
        "af.observe('mixture/figure1', {0: {'W_K': np.zeros(2)}})",
        "af.observe('x', {})",
    ),
    *("af.observe('mixture/figure1', {nan: {}})", "af.times('x')", "af.times(3)"),
    *("af.samples('x')", "af.initial_weights('nonsense/x')", "af.Initial(width=-1)"),
    *("af.Initial(width=0)", "af.Initial(width=1.5)", "af.Initial(omega=-1)"),
    *("af.Flow(rtol=1e23)", "af.Flow(rtol=nan)", "af.GradientDescent(nan)"),
    *("af.GradientDescent('x')", "af.Momentum(0.1, 1.5)", "af.Adam(-1.0)"),
    *("af.MixtureTask(groups=-3)", "af.MixtureTask(groups=0)", "af.Grid(count=-3)"),
    *("af.Problem(af.Linear(), 'correlation')", "af.Problem(3, 4)", "af.Batches(0)"),
    *(
        "af.Runner(seeds=-1)",
        "af.Request('x')",
        "af.mix('x', 'gd', 1.0)",
        "af.mix(3, 3, 3)",
    ),
    *("af.SignalNoiseTask(samples=0)", "af.NoisyPatchesTask(samples=-1)"),
    *("af.Initial(omega=nan)", "af.Momentum('x', None)", "af.Grid(points=(nan,))"),
    *("af.observe(3, {})", "af.samples(None)", "af.initial_weights('mixture')"),
)


@st.composite
def _expressions(draw, text, right):
    """A text of a setting as Python: as the text, as a number, or as something odd."""
    forms = [repr(text)]
    try:
        number = float(text)
        is_whole = number == int(number) and abs(number) <= LARGEST
        forms += [repr(int(number)) if is_whole else repr(number)] * 3
    except (ValueError, OverflowError):
        pass
    odd = ("None", "nan", "inf", "10**30", "1j", "b'1'", "[1, 2]", "()", "np.int8(3)")
    more = ("np.float32(0.5)", "True", "np.array(2)", "np.array([1, 2])", "object()")
    if not right:
        forms += [draw(st.sampled_from((*odd, *more)))]
    return draw(st.sampled_from(forms))
