"""Benchmarks of `cooccurrence`: the paper's run, wider ones, and gradient flow."""

from collections.abc import Callable
from functools import partial

import numpy as np

from attnflow.cli.benchmarks.harness import Arrays, Case, Rows, run_rows, torch_losses

RATE, STEPS, RECORDS = 0.01, 30000, 101
RIVAL = "full-batch autograd and SGD in PyTorch, float64, in the paper's K, Q, V form"
LEAN = "the same with W_Qᵀ W_K and aᵀ W W_V before their products with tokens"
RECORDED = ("loss", "score", "value")


def _sizes(width: int, neurons: int, steps: int, way: str) -> str:
    return f"n=60, L=5, d=64, m={width}, m1={neurons}, {way} to {steps} steps of {RATE}"


def _paired(
    width: int, neurons: int, *, share: float, plain: bool, repeats: int = 9
) -> Case:
    """The paper's run, all three ways from the same weights."""
    arrays = _arrays(width, neurons)
    run = partial(_ours, width, neurons, STEPS, arrays)
    return Case(
        size=_sizes(width, neurons, STEPS, "descent"),
        ours=partial(run, form="auto"),
        weights=partial(run, form="weights") if plain else None,
        torch=partial(_torch, share, *arrays),
        rival=f"{RIVAL}; the first {share:.0%} of the steps, scaled",
        lean=(partial(_torch, share, *arrays, lean=True), LEAN),
        # Rounding errors grow over 30,000 steps.
        tolerance=1e-10,
        share=share,
        repeats=repeats,
    )


def _drawn(width: int, neurons: int, *, steps: int = STEPS, repeats: int = 5) -> Case:
    """Weights in law alone: ours at any width, with nothing to compare."""
    return Case(
        size=_sizes(width, neurons, steps, "descent"),
        ours=partial(_ours, width, neurons, steps, None, draw="bartlett"),
        repeats=repeats,
    )


def _flow(*, share: float) -> Case:
    arrays = _arrays(128, 256)
    times = {"rule": "flow", "steps": RATE * STEPS, "rtol": 1e-7, "atol": 1e-11}
    return Case(
        size=_sizes(128, 256, STEPS, "flow"),
        ours=partial(_ours, 128, 256, STEPS, arrays, recorded=("loss",), **times),
        torch=partial(_torch, share, *arrays),
        rival=f"{RIVAL}; the first {share:.0%} of the steps, scaled",
        # Descent is not the flow: its error is of the order of η times the sharpness.
        tolerance=2e-3,
        share=share,
    )


CASES: dict[str, Callable[[], Case]] = {
    "m128": partial(_paired, 128, 256, share=0.1, plain=True, repeats=3),
    "m2048": partial(_paired, 2048, 4096, share=0.01, plain=False, repeats=3),
    "flow": partial(_flow, share=0.1),
    "drawn-m128": partial(_drawn, 128, 256),
    "drawn-m1e6": partial(_drawn, 10**6, 2 * 10**6),
    "drawn-short": partial(_drawn, 128, 256, steps=STEPS // 10),
}


def _ours(
    width: int,
    neurons: int,
    count: int,
    arrays: tuple[Arrays, Arrays] | None,
    *,
    recorded: tuple[str, ...] = RECORDED,
    **changes: str | float,
) -> Rows:
    from attnflow.papers.cooccurrence.experiments import train
    from attnflow.papers.cooccurrence.settings import Train
    from attnflow.schema.settings import replace

    setting = {
        "width": width,
        "neurons": neurons,
        "law": "normal",
        "learning_rate": RATE,
        "steps": float(count),
        "records": RECORDS,
        "record": recorded,
        "show": "all",
    }
    weights, data = arrays or (None, None)
    experiment = train(replace(Train(), {**setting, **changes}))
    return run_rows(experiment, weights=weights, data=data)


def _arrays(width: int, neurons: int) -> tuple[Arrays, Arrays]:
    """Initial weights of the reading that matches Figure 1, and a training set."""
    import jax

    from attnflow.data import CooccurrenceTask
    from attnflow.training import precise

    draw = np.random.default_rng(0)

    def uniform(*shape: int) -> np.ndarray:
        bound = shape[-1] ** -0.5
        return draw.uniform(-bound, bound, (1, *shape))

    weights = {name: uniform(width, 64) for name in ("W_K", "W_Q", "W_V")}
    weights |= {"W": uniform(neurons, width), "a": uniform(neurons)}
    with precise():
        data = CooccurrenceTask().sequences(key=jax.random.key(0))
        arrays = {n: np.asarray(getattr(data, n)) for n in ("tokens", "key", "label")}
    return weights, arrays


def _torch(
    share: float, weights: Arrays, arrays: Arrays, *, lean: bool = False
) -> Rows:
    import torch

    tokens = torch.tensor(arrays["tokens"][arrays["key"]])
    label = torch.tensor(arrays["label"])
    state = {n: torch.tensor(w[0], requires_grad=n != "a") for n, w in weights.items()}
    root = weights["W_K"].shape[1] ** 0.5

    def outputs() -> torch.Tensor:
        keys, queries = tokens @ state["W_K"].T, tokens @ state["W_Q"].T
        attention = torch.softmax(queries @ keys.transpose(1, 2) / root, dim=-1)
        read = attention @ (tokens @ state["W_V"].T)
        return ((read @ state["W"].T) @ state["a"]).sum(dim=1)

    def lean_outputs() -> torch.Tensor:
        between = state["W_Q"].T @ state["W_K"]
        scores = (tokens @ between) @ tokens.transpose(1, 2) / root
        values = tokens @ ((state["a"] @ state["W"]) @ state["W_V"])
        read = torch.softmax(scores, dim=-1) @ values[..., None]
        return read.sum(dim=(1, 2))

    def loss_of() -> torch.Tensor:
        output = lean_outputs() if lean else outputs()
        return torch.nn.functional.softplus(-label * output).mean()

    every = STEPS // (RECORDS - 1)
    rows: list[tuple[float, np.ndarray, np.ndarray]] = []
    moving = [weight for weight in state.values() if weight.requires_grad]
    optimiser = torch.optim.SGD(moving, lr=RATE)
    for step, loss in torch_losses(
        loss_of, moving, optimiser.step, round(share * STEPS)
    ):
        if step % every == 0:
            with torch.no_grad():
                score = (state["W_K"].T @ state["W_Q"]).numpy()
                value = (state["a"] @ state["W"] @ state["W_V"]).numpy()
            rows.append((loss.item(), score[None], value[None]))
    columns = zip(*rows, strict=True)
    return dict(zip(RECORDED, map(np.array, columns), strict=True))
