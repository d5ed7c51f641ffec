"""Benchmarks of `mixture`: all weights together by gradient descent."""

from collections.abc import Callable
from functools import partial

import numpy as np

from attnflow.cli.benchmarks.harness import Arrays, Case, Rows

RECORDS, RECORDED = 21, ("loss", "score", "value")


def _case(width: int, *, K: int = 2, L: int = 3, steps: int = 2000) -> Case:
    small = width <= 4096
    weights = _weights(width, K) if small else {}
    run = partial(_ours, width=width, K=K, L=L, steps=steps, weights=weights or None)
    return Case(
        size=f"K={K}, L={L}, m={width}, {steps} steps",
        ours=partial(run, form="auto"),
        weights=partial(run, form="weights") if small else None,
        torch=partial(_torch, K=K, L=L, steps=steps, weights=weights)
        if small
        else None,
        rival="full-batch autograd and SGD in PyTorch, float64, heads written out",
    )


CASES: dict[str, Callable[[], Case]] = {
    "m128": partial(_case, 128),
    "m32": partial(_case, 32),
    "m2048": partial(_case, 2048),
    "m1e6": partial(_case, 10**6),
    "k4": partial(_case, 64, K=4, L=4, steps=200),
}


def _weights(width: int, K: int) -> Arrays:
    draw = np.random.default_rng(0)
    shape, scale = (2, width, 2 * K), 0.1 / np.sqrt(width)
    return {
        "W_K": scale * draw.standard_normal(shape),
        "W_Q": scale * draw.standard_normal(shape),
        "w": np.zeros((2, 2 * K)),
    }


def _ours(
    *, form: str, width: int, K: int, L: int, steps: int, weights: Arrays | None
) -> Rows:
    from attnflow.experiments import run
    from attnflow.papers.mixture.experiments import simultaneous
    from attnflow.papers.mixture.settings import Simultaneous

    setting = Simultaneous(
        K=K,
        L=L,
        width=width,
        steps=float(steps),
        form=form,  # pyright: ignore[reportArgumentType]
        records=RECORDS,
        record=RECORDED,
    )
    result = run(simultaneous(setting), weights=weights)
    return {name: result[name].values[0] for name in RECORDED}


def _torch(*, K: int, L: int, steps: int, weights: Arrays) -> Rows:
    """The loop that one would write: samples as tensors, autograd, SGD."""
    import torch

    torch.set_num_threads(1)
    tokens, label, probability = (torch.tensor(a) for a in _samples(K, L))
    state = {n: torch.tensor(a, requires_grad=True) for n, a in weights.items()}
    optimiser = torch.optim.SGD(state.values(), lr=0.1)
    marks = set(np.rint(np.linspace(0, steps, RECORDS)).astype(int))
    rows: list[tuple[float, np.ndarray, np.ndarray]] = []
    for step in range(steps + 1):
        heads = []
        for W_K, W_Q, w in zip(state["W_K"], state["W_Q"], state["w"], strict=True):
            scores = (tokens @ W_Q.T) @ (tokens @ W_K.T).transpose(1, 2)
            read = torch.softmax(scores, dim=-1) @ (tokens @ w)[..., None]
            heads.append(read.sum(dim=(1, 2)))
        output = torch.relu(heads[0] + 0.5) - torch.relu(heads[1] + 0.5)
        loss = (probability * torch.nn.functional.softplus(-label * output)).sum()
        if step in marks:
            with torch.no_grad():
                score = state["W_K"].transpose(1, 2) @ state["W_Q"]
                rows.append((loss.item(), score.numpy(), state["w"].numpy().copy()))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    columns = zip(*rows, strict=True)
    return dict(zip(RECORDED, map(np.array, columns), strict=True))


def _samples(K: int, L: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from attnflow.data import MixtureTask
    from attnflow.training import precise

    with precise():
        data = MixtureTask(K, L).sequences()
        tokens = np.asarray(data.tokens)[np.asarray(data.key)]
        return tokens, np.asarray(data.label), np.asarray(data.probability)
