"""Benchmarks of `vit`: steps at Section 6's sizes, Figure 1's map, and any d.

For steps PyTorch is given data and initial weights, and ours draws them within the
time. For the map both draw within the time: PyTorch for every cell, as a script would.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow.cli.benchmarks.harness import (
    Arrays,
    Case,
    Rows,
    run_rows,
    seed_arrays,
    torch_losses,
)

if TYPE_CHECKING:
    from attnflow.experiments import Experiment

RIVAL = "full-batch autograd and SGD in PyTorch, float64"
LEAN = "the same with W_Vᵀ w_O before its product with patches"
# Numbers of steps for attnflow and for PyTorch: enough to outweigh the start-up cost,
# with few enough records that recording costs nothing.
STEPS = {2: (8000, 40), 4: (4000, 40), 10: (1000, 40), 20: (300, 20)}
RECORDED = (0, 10, 20, 40)
COUNTS = tuple(range(2, 21, 2))
READOUTS = {"trained": "default16-trained", "fixed": "default-fixed"}
SIZES = "M=16, d=1024, dh=dv=512"


def _steps(samples: int, readout: str) -> Case:
    steps, theirs = STEPS[samples]
    experiment = _experiment(samples, steps, READOUTS[readout])
    arrays = seed_arrays(experiment, tested=False)
    loop = partial(_torch, arrays, readout == "trained", theirs)
    return Case(
        size=f"N={samples}, {SIZES}, {steps} steps, w_O {readout}",
        ours=partial(run_rows, experiment, at=RECORDED),
        torch=loop,
        rival=f"{RIVAL} (the first {theirs} of the steps)",
        lean=(partial(loop, lean=True), LEAN),
        tolerance=1e-12,
        share=theirs / steps,
        repeats=5,
    )


def _map(readout: str) -> Case:
    return Case(
        size=f"Figure 1's map, 10 × 12 cells, one seed, {SIZES}, w_O {readout}",
        ours=partial(_our_map, READOUTS[readout]),
        torch=partial(_torch_map, READOUTS[readout]),
        rival=f"{RIVAL}, cell by cell, with the test on 100 samples at the end",
        # Relative to the largest test loss; steps must be equal in every cell.
        tolerance=1e-12,
        repeats=1,
    )


def _any_d(power: int) -> Case:
    from attnflow.papers.vit.experiments import theory
    from attnflow.papers.vit.settings import Theory

    sizes = {"embed": 2**power, "key_width": 2**20, "steps": 2000}
    experiment = theory(Theory(**sizes, target=1e-300, record=("loss",)))
    return Case(
        size=f"N=16, M=4, d=2^{power}, dh=2^20, sampled tokens, 2000 steps",
        ours=partial(run_rows, experiment, at=RECORDED),
        repeats=5,
    )


CASES: dict[str, Callable[[], Case]] = {
    **{
        f"n{n}-{readout}": partial(_steps, n, readout)
        for n in STEPS
        for readout in READOUTS
    },
    **{f"map-{readout}": partial(_map, readout) for readout in READOUTS},
    **{f"d2^{p}": partial(_any_d, p) for p in (10, 30, 60)},
}


def _experiment(
    samples: int, steps: int, readout: str, **changes: str | float
) -> "Experiment":
    from attnflow.papers.vit.experiments import train
    from attnflow.papers.vit.settings import Train

    fields = {"test_samples": 0, "dense": steps, "record": ("loss", "pair_value")}
    fields |= {"target": 1e-300, "classes": "equal", **changes}
    return train(Train(samples=samples, steps=steps, readout=readout, **fields))  # pyright: ignore


def _our_map(readout: str) -> Rows:
    from attnflow.data.noisy_patches import OneClassWarning
    from attnflow.papers.vit.maps import phase_map
    from attnflow.papers.vit.settings import Map
    from attnflow.training import precise

    with warnings.catch_warnings(), precise():
        warnings.simplefilter("ignore", OneClassWarning)
        grid = phase_map(vars(Map(readout=readout)), [0])  # pyright: ignore
    return {n: grid[n].values[0].reshape(-1) for n in ("end_time", "test_loss")}


def _torch(arrays: Arrays, trained: bool, steps: int, *, lean: bool = False) -> Rows:
    return _loop(arrays, trained=trained, steps=steps, lean=lean)[0]


def _torch_map(readout: str) -> Rows:
    """Cell by cell, as a script would."""
    from attnflow.papers.vit.settings import Map

    setting = Map(readout=readout)  # pyright: ignore
    ratios = np.linspace(setting.snr_low, setting.snr_high, setting.snr_count)
    steps, losses = [], []
    for samples in COUNTS:
        for ratio in ratios:
            experiment = _experiment(
                samples,
                setting.steps,
                readout,
                snr=float(ratio),
                classes="drawn",
                test_samples=setting.test_samples,
            )
            rows, last = _loop(
                seed_arrays(experiment, tested=True),
                trained=readout == READOUTS["trained"],
                steps=setting.steps,
                target=setting.target,
            )
            steps.append(len(rows["all"]) - 1)
            losses.append(last)
    return {"end_time": np.array(steps, float), "test_loss": np.array(losses)}


def _loop(
    arrays: Arrays,
    *,
    trained: bool,
    steps: int,
    target: float = 0.0,
    lean: bool = False,
) -> tuple[Rows, float]:
    """The loop that the authors would write; rows, and the test loss at the end."""
    import torch

    state = {name: torch.tensor(array) for name, array in arrays.items()}
    moving = ["W_K", "W_Q", "W_V", *(["w_O"] if trained else [])]
    weights = [state[name].requires_grad_() for name in moving]
    advance = torch.optim.SGD(weights, lr=0.1).step

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        scores = (x @ state["W_Q"].T) @ (x @ state["W_K"].T).transpose(1, 2)
        attention = torch.softmax(scores, dim=-1)
        W_V, w_O = state["W_V"], state["w_O"]
        value = x @ (W_V.T @ w_O) if lean else (x @ W_V.T) @ w_O
        state["value"] = value
        output = torch.einsum("nlj,nj->nl", attention, value).mean(dim=1)
        return torch.nn.functional.softplus(-y * output).mean()

    losses, values = [], []
    train = partial(loss_of, state["x"], state["y"])
    for step, loss in torch_losses(train, weights, advance, steps):
        losses.append(loss.item())
        if step in RECORDED:
            values.append(state["value"].detach().numpy()[:, None].copy())
        if step == steps or losses[-1] <= target:
            break
    last = float("nan")
    if "test_x" in state:
        with torch.no_grad():
            last = loss_of(state["test_x"], state["test_y"]).item()
    every = np.array(losses)
    return {
        "loss": every[[step for step in RECORDED if step < len(every)]],
        "pair_value": np.array(values),
        "all": every,
    }, last
