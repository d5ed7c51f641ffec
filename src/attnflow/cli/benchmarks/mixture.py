"""Benchmarks of `mixture`: all weights together by gradient descent."""

from collections.abc import Callable
from functools import partial

import numpy as np

from attnflow.cli.benchmarks.harness import Arrays, Case, Rows, run_rows, torch_losses

RECORDS, RECORDED = 21, ("loss", "score", "value")
LEAN = "both heads at once, W_Qᵀ W_K before its products with tokens"


def _case(width: int, *, K: int = 2, L: int = 3, steps: int = 2000) -> Case:
    weights = _weights(width, K) if width <= 4096 else None
    ours = partial(_ours, K=K, L=L, width=width, steps=steps, weights=weights)
    return Case(
        size=f"K={K}, L={L}, m={width}, {steps} steps",
        ours=partial(ours, "auto"),
        weights=partial(ours, "weights") if weights else None,
        torch=partial(_torch, K, L, steps, weights) if weights else None,
        rival="full-batch autograd and SGD in PyTorch, float64, heads written out",
        lean=(partial(_torch, K, L, steps, weights, lean=True), LEAN)
        if weights
        else None,
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
    scores = {name: scale * draw.standard_normal(shape) for name in ("W_K", "W_Q")}
    return {**scores, "w": np.zeros((2, 2 * K))}


def _ours(form: str, *, weights: Arrays | None, **sizes: int) -> Rows:
    from attnflow.papers.mixture.experiments import simultaneous
    from attnflow.papers.mixture.settings import Simultaneous
    from attnflow.schema.settings import replace

    recorded = {"records": RECORDS, "record": RECORDED, "form": form}
    experiment = simultaneous(replace(Simultaneous(), {**sizes, **recorded}))
    return run_rows(experiment, weights=weights)


def _torch(K: int, L: int, steps: int, weights: Arrays, *, lean: bool = False) -> Rows:
    import torch

    tokens, label, probability = (torch.tensor(a) for a in _samples(K, L))
    state = {n: torch.tensor(a, requires_grad=True) for n, a in weights.items()}
    optimiser = torch.optim.SGD(state.values(), lr=0.1)

    def each_head() -> list[torch.Tensor]:
        heads = []
        for W_K, W_Q, w in zip(state["W_K"], state["W_Q"], state["w"], strict=True):
            scores = (tokens @ W_Q.T) @ (tokens @ W_K.T).transpose(1, 2)
            read = torch.softmax(scores, dim=-1) @ (tokens @ w)[..., None]
            heads.append(read.sum(dim=(1, 2)))
        return heads

    def both_heads() -> torch.Tensor:
        between = state["W_Q"].transpose(1, 2) @ state["W_K"]
        scores = (tokens @ between[:, None]) @ tokens.transpose(1, 2)
        values = (tokens @ state["w"].T).movedim(-1, 0)
        return (torch.softmax(scores, dim=-1) @ values[..., None]).sum(dim=(2, 3))

    def loss_of() -> torch.Tensor:
        heads = both_heads() if lean else each_head()
        output = torch.relu(heads[0] + 0.5) - torch.relu(heads[1] + 0.5)
        return (probability * torch.nn.functional.softplus(-label * output)).sum()

    marks = set(np.rint(np.linspace(0, steps, RECORDS)).astype(int))
    rows: list[tuple[float, np.ndarray, np.ndarray]] = []
    for step, loss in torch_losses(loss_of, [*state.values()], optimiser.step, steps):
        if step in marks:
            with torch.no_grad():
                score = state["W_K"].transpose(1, 2) @ state["W_Q"]
                rows.append((loss.item(), score.numpy(), state["w"].numpy().copy()))
    columns = zip(*rows, strict=True)
    return dict(zip(RECORDED, map(np.array, columns), strict=True))


def _samples(K: int, L: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from attnflow.data import MixtureTask
    from attnflow.training import precise

    with precise():
        data = MixtureTask(K, L).sequences()
        tokens = data.host_tokens[np.asarray(data.key)]
        return tokens, np.asarray(data.label), np.asarray(data.probability)
