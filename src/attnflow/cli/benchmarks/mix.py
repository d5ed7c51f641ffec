"""Benchmarks of mixed experiments: prompts, token selection, linear attention.

Rivals are given data and initial weights; ours prepares both within the time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from attnflow.cli.benchmarks.harness import Arrays, Case, Rows, run_rows, torch_losses
from attnflow.data import PromptQuery, Sequences, SignalNoiseTask, Task, sequences
from attnflow.experiments.members import samples_of, test_samples_of
from attnflow.experiments.mixing import mix
from attnflow.models.forms import Initial, Vector
from attnflow.models.problem import Linear, Logistic, Problem, Squared
from attnflow.training import Grid, precise
from attnflow.training.rules import GradientDescent

LOOP = "the loop by autograd in PyTorch, float64"


def _grid(steps: int, every: int) -> Grid:
    return Grid(points=tuple(float(k) for k in range(0, steps + 1, every)))


@dataclass(frozen=True)
class Noise(Task):
    """n sequences of T normal tokens, the first with a signal; values are fixed."""

    samples: int = 20
    length: int = 8
    embed: int = 2000

    def sequences(self, *, key: object = None) -> Sequences:
        """The samples."""
        shape = (self.samples, self.length, self.embed)
        x = np.random.default_rng(0).standard_normal(shape)
        label = np.where(np.arange(self.samples) % 2, -1.0, 1.0)
        x[:, 0, 0] += 20 * (label > 0)
        x[:, 0, 1] += 20 * (label < 0)
        rows = np.arange(self.samples * self.length).reshape(shape[:2])
        values = (x[..., 0] - x[..., 1]) / 28
        flat = x.reshape(-1, self.embed)
        return sequences(flat, rows, label, payload=values, shown=())


def _selection() -> Case:
    steps, theirs, d = 8000, 30, 2000
    problem, initial = Problem(Linear(), Logistic()), Initial(d, 0.5)
    plan = mix(
        PromptQuery(Noise()),
        GradientDescent(0.005),
        steps,
        problem=problem,
        initial=initial,
        trains=("scores",),
        record=("loss",),
        grid=_grid(30, 10),
    )
    draw = np.random.default_rng(1)
    keys = np.zeros((1, d, d + 1))
    keys[0, :, :d] = draw.uniform(-1, 1, (d, d)) / np.sqrt(d)
    weights = {"W_K": keys, "W_Q": np.zeros((1, d, d + 1)), "w": np.zeros((1, d + 1))}
    with precise():
        data = Noise().sequences()
    x = data.host_tokens[np.asarray(data.key)]
    arrays = {"x": x, "y": np.asarray(data.label), "W": keys[0, :, :d].T}
    arrays["values"] = np.asarray(data.payload)
    loop = partial(_torch_selection, arrays, theirs)
    return Case(
        size=f"token selection, n=20, T=8, d={d}, W and p trained, {steps} steps",
        ours=partial(run_rows, plan, weights=weights),
        torch=loop,
        rival=f"{LOOP}, (x W) p (the first {theirs} of the steps)",
        lean=(partial(loop, lean=True), "the same with x (W p)"),
        share=theirs / steps,
        tolerance=1e-11,
        repeats=3,
    )


def _torch_selection(arrays: Arrays, steps: int, *, lean: bool = False) -> Rows:
    import torch

    x, y, values = (torch.tensor(arrays[n]) for n in ("x", "y", "values"))
    matrix = torch.tensor(arrays["W"], requires_grad=True)
    prompt = torch.zeros(x.shape[-1], dtype=torch.float64, requires_grad=True)
    both = [matrix, prompt]
    optimiser = torch.optim.SGD(both, lr=0.005)

    def loss() -> Any:
        scores = x @ (matrix @ prompt) if lean else (x @ matrix) @ prompt
        output = (torch.softmax(scores, -1) * values).sum(-1)
        return torch.nn.functional.softplus(-y * output).mean()

    rows = torch_losses(loss, both, optimiser.step, steps)
    return {"loss": np.array([x.item() for step, x in rows if step % 10 == 0])}


def _prompt() -> Case:
    steps, theirs, every = 24_000, 1200, 120
    task = PromptQuery(SignalNoiseTask())
    d = SignalNoiseTask().embed
    plan = mix(
        task,
        GradientDescent(0.1),
        steps,
        initial=Initial(merged=True),
        record=("loss", "test_loss"),
        grid=_grid(steps, every),
    )
    with precise():
        train, test = samples_of(plan, 0, None), test_samples_of(plan, 0, None)
    assert test is not None
    column = 0.1 * np.random.default_rng(0).standard_normal(d)
    matrix = np.zeros((1, d + 1, d + 1))
    matrix[0, :d, d] = column
    weights = {"W_KQ": matrix, "w": np.zeros((1, d + 1))}
    arrays = {"q": column}
    for prefix, data in (("", train), ("test_", test)):
        arrays[f"{prefix}x"] = data.host_tokens[np.asarray(data.key)][..., :d]
        arrays[f"{prefix}y"] = np.asarray(data.label)
    return Case(
        size=f"merged prompt, n=20, d={d}, 500 test samples, {steps} steps",
        ours=partial(run_rows, plan, weights=weights),
        torch=partial(_numpy_prompt, arrays, theirs, every),
        rival=f"fifteen lines of NumPy (the first {theirs} of the steps)",
        share=theirs / steps,
        tolerance=1e-11,
        repeats=3,
    )


def _numpy_prompt(arrays: Arrays, steps: int, every: int) -> Rows:
    x, y, q = arrays["x"], arrays["y"], arrays["q"].copy()
    w = np.zeros_like(q)
    rows: dict[str, list[float]] = {"loss": [], "test_loss": []}
    for step in range(steps + 1):
        p, values, output = _forward(x, q, w)
        if step % every == 0:
            test = _forward(arrays["test_x"], q, w)[2]
            rows["loss"].append(float(np.logaddexp(0, -y * output).mean()))
            rows["test_loss"].append(
                float(np.logaddexp(0, -arrays["test_y"] * test).mean())
            )
        pull = (y / (1 + np.exp(y * output)) / len(y))[:, None] * p
        force = pull * (values - output[:, None])
        q += 0.1 * np.einsum("nk,nkd->d", force, x)
        w += 0.1 * np.einsum("nk,nkd->d", pull, x)
    return {name: np.array(row) for name, row in rows.items()}


def _forward(x: np.ndarray, q: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, ...]:
    scores = x @ q
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    values = x @ w
    return p, values, (p * values).sum(axis=1)


@dataclass(frozen=True)
class Regression(Task):
    """In-context regression: prompts of (x, y), asked by the last."""

    samples: int = 1000
    length: int = 16
    embed: int = 5

    def sequences(self, *, key: object = None) -> Sequences:
        """The samples."""
        draw = np.random.default_rng(0)
        x = draw.standard_normal((self.samples, self.length, self.embed)) / 2
        w = draw.standard_normal((self.samples, self.embed - 1))
        x[..., -1] = np.einsum("nkd,nd->nk", x[..., :-1], w)
        target = x[:, -1, -1].copy()
        x[:, -1, -1] = 0
        rows = np.arange(self.samples * self.length).reshape(x.shape[:2])
        flat = x.reshape(-1, self.embed)
        return sequences(flat, rows, target, query=rows[:, -1:], shown=())


def _linear() -> Case:
    steps, theirs, heads = 20_000, 200, 5
    plan = mix(
        Regression(),
        GradientDescent(0.01),
        steps,
        problem=Problem(Linear(heads), Squared(1.0), law="linear"),
        initial=Initial(4, 0.1, Vector(0.1)),
        record=("loss",),
        grid=_grid(200, 20),
    )
    draw = np.random.default_rng(1)
    weights = {n: 0.05 * draw.standard_normal((heads, 4, 5)) for n in ("W_K", "W_Q")}
    weights["w"] = 0.1 * draw.standard_normal((heads, 5))
    with precise():
        data = Regression().sequences()
    x, y = data.host_tokens[np.asarray(data.key)], np.asarray(data.label)
    loop = partial(_torch_linear, {"x": x, "y": y, **weights}, theirs)
    return Case(
        size=f"linear attention, 1000 prompts of 16, {heads} heads, {steps} steps",
        ours=partial(run_rows, plan, weights=weights),
        torch=loop,
        rival=f"{LOOP} (the first {theirs} of the steps)",
        lean=(partial(loop, lean=True), "the same with Gram matrices of prompts"),
        share=theirs / steps,
        tolerance=1e-11,
        repeats=3,
    )


def _torch_linear(arrays: Arrays, steps: int, *, lean: bool = False) -> Rows:
    import torch

    x, y = torch.tensor(arrays["x"]), torch.tensor(arrays["y"])
    w = [torch.tensor(arrays[n], requires_grad=True) for n in ("W_K", "W_Q", "w")]
    optimiser = torch.optim.SGD(w, lr=0.01)
    query, gram = x[:, -1], x.transpose(1, 2) @ x

    def loss() -> Any:
        if lean:
            seen = torch.einsum("hmd,hme,nd->nhe", w[1], w[0], query)
            output = torch.einsum("nhe,nef,hf->n", seen, gram, w[2])
        else:
            keys = torch.einsum("hmd,nkd->nhkm", w[0], x)
            asked = torch.einsum("hmd,nd->nhm", w[1], query)
            scores = torch.einsum("nhkm,nhm->nhk", keys, asked)
            output = (scores * torch.einsum("hd,nkd->nhk", w[2], x)).sum((1, 2))
        return ((output - y) ** 2).mean()

    rows = torch_losses(loss, w, optimiser.step, steps)
    return {"loss": np.array([x.item() for step, x in rows if step % 20 == 0])}


CASES: dict[str, Callable[[], Case]] = {
    "selection": _selection,
    "prompt": _prompt,
    "linear": _linear,
}
