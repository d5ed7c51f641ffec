"""Every rule beside PyTorch's own optimiser, or beside ten lines of PyTorch.

`torch.optim.Muon` rounds to bfloat16 inside its iteration: `test_whole_rules` has a
loop without that.
"""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from attnflow.experiments import run  # noqa: E402
from attnflow.training import Grid, Stage  # noqa: E402
from attnflow.training.rules import (  # noqa: E402
    Adam,
    AdamW,
    CosineDecay,
    GradientDescent,
    Lion,
    Momentum,
    Nesterov,
    NormalisedDescent,
    SignGD,
    StepDecay,
)
from tests.core import experiment, given_weights  # noqa: E402
from tests.oracle.test_mixture import model_loss, samples  # noqa: E402

pytestmark = pytest.mark.cpus

STEPS = 120
SGD, BETAS = torch.optim.SGD, (0.8, 0.95)


class ByHand(torch.optim.Optimizer):
    """Lion, SignGD and normalised descent, with decay beside the update."""

    def __init__(self, params, lr, rule, weight_decay, betas=BETAS):
        super().__init__(params, {"lr": lr})
        self.rule, self.decay, self.betas = rule, weight_decay, betas

    def step(self):
        """One step."""
        (group,) = self.param_groups
        grads = [p.grad for p in group["params"]]
        length = torch.sqrt(sum((g**2).sum() for g in grads))
        for p, g in zip(group["params"], grads, strict=True):
            update = {"signgd": torch.sign(g), "normalised": g / length}.get(self.rule)
            if update is None:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                update = torch.sign(self.betas[0] * m + (1 - self.betas[0]) * g)
                m.mul_(self.betas[1]).add_((1 - self.betas[1]) * g)
            p.data -= group["lr"] * (update + self.decay * p.data)


def adam(kind, **options):
    return lambda p: kind(p, lr=0.01, betas=BETAS, eps=1e-6, **options)


RULES = {
    "sgd": (
        GradientDescent(0.1, weight_decay=0.05),
        lambda p: SGD(p, lr=0.1, weight_decay=0.05),
    ),
    "momentum": (
        Momentum(0.05, 0.8, weight_decay=0.05),
        lambda p: SGD(p, lr=0.05, momentum=0.8, weight_decay=0.05),
    ),
    "nesterov": (
        Nesterov(0.05, 0.8, weight_decay=0.05),
        lambda p: SGD(p, lr=0.05, momentum=0.8, weight_decay=0.05, nesterov=True),
    ),
    "adam": (
        Adam(0.01, *BETAS, 1e-6, weight_decay=0.05),
        adam(torch.optim.Adam, weight_decay=0.05),
    ),
    "adamw": (
        AdamW(0.01, *BETAS, 1e-6, weight_decay=0.5),
        adam(torch.optim.AdamW, weight_decay=0.5),
    ),
    "adamw, default decay": (AdamW(0.01, *BETAS, 1e-6), adam(torch.optim.AdamW)),
    "lion": (
        Lion(0.002, *BETAS, weight_decay=0.3),
        lambda p: ByHand(p, 0.002, "lion", 0.3),
    ),
    "signgd": (
        SignGD(0.002, weight_decay=0.3),
        lambda p: ByHand(p, 0.002, "signgd", 0.3),
    ),
    "normalised": (
        NormalisedDescent(0.02, weight_decay=0.3),
        lambda p: ByHand(p, 0.02, "normalised", 0.3),
    ),
}


def train(make, *, clip=None, schedule=None, groups=None):
    """Scores and values of the PyTorch loop at each step."""
    torch.set_num_threads(1)
    given = given_weights(width=32)
    weights = {n: torch.tensor(a, requires_grad=True) for n, a in given.items()}
    optimiser = make(groups(weights) if groups else list(weights.values()))
    scheduler = schedule(optimiser) if schedule else None
    rows = []
    for _ in range(STEPS + 1):
        score = torch.einsum("hmk,hmq->hkq", weights["W_K"], weights["W_Q"])
        rows.append([x.detach().numpy().copy() for x in (score, weights["w"])])
        optimiser.zero_grad()
        model_loss(weights, *samples()).backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(list(weights.values()), clip)
        optimiser.step()
        if scheduler is not None:
            scheduler.step()
    return [np.array(column) for column in zip(*rows, strict=True)]


def compare(rule, theirs, *, form="auto", trains=("scores", "values")):
    grid = Grid(stop=STEPS, count=STEPS + 1)
    plan = experiment(
        stages=(Stage(rule, STEPS, trains),), form=form, until=STEPS, grid=grid
    )
    ours = run(plan, weights=given_weights(width=32))
    assert np.abs(theirs[1][-1] - theirs[1][0]).max() > 0.05
    for name, wanted in zip(("score", "value"), theirs, strict=True):
        error = np.abs(ours[name].values[0] - wanted).max()
        # A rounding a step, times the terms of its sums (`tests.core`), and Adam's
        # root, whose slope is one over ε where gradients are small.
        assert error < STEPS * 128 * np.finfo(float).eps * np.abs(wanted).max(), name
    return ours.attrs["form"]


@pytest.mark.parametrize("form", ["weights", "auto"])
@pytest.mark.parametrize("name", RULES)
def test_equals_pytorch(name, form):
    rule, make = RULES[name]
    compare(rule, train(make), form=form)


@pytest.mark.parametrize(("name", "form"), [("sgd", "gram"), ("adamw", "weights")])
def test_clipped_gradients_equal_pytorch(name, form):
    rule, make = RULES[name]
    clipped = type(rule)(**{**vars(rule), "clip": 0.05})
    assert compare(clipped, train(make, clip=0.05)) == form
    with pytest.raises(AssertionError):
        compare(rule, train(make, clip=0.05))


SCHEDULES = {
    "cosine": (
        CosineDecay(STEPS),
        lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, STEPS),
    ),
    "step": (
        StepDecay(STEPS / 3),
        lambda o: torch.optim.lr_scheduler.StepLR(o, STEPS // 3),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_equal_pytorch(name):
    """The decay of AdamW follows the schedule too."""
    schedule, theirs = SCHEDULES[name]
    rule, make = RULES["adamw"]
    paced = type(rule)(**{**vars(rule), "schedule": schedule})
    compare(paced, train(make, schedule=theirs))


def test_parts_with_rules_of_their_own_equal_groups_of_pytorch():
    rules = {
        "keys": GradientDescent(0.3, weight_decay=0.1),
        "values": GradientDescent(0.05),
    }

    def groups(weights):
        return [
            {"params": [weights["W_K"]], "lr": 0.3, "weight_decay": 0.1},
            {"params": [weights["w"]], "lr": 0.05},
        ]

    theirs = train(lambda g: SGD(g, lr=0.1), groups=groups)
    assert compare(rules, theirs, trains=("keys", "values")) == "gram"
