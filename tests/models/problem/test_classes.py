"""Several classes, a head for each: against PyTorch, in every form that has heads."""

import equinox as eqx
import numpy as np
import pytest
from tests.core import experiment, mostly_slow, mutated
from tests.observables.curvature.full import full_kernel, full_spectrum

import attnflow as af
import attnflow.models.forms.shared as shared_form
from attnflow.data import MixtureTask, SignalClassesTask
from attnflow.experiments import members, run
from attnflow.models.forms import Initial, Vector
from attnflow.models.problem import Classes, Logistic, Problem
from attnflow.observables.curvature import sharpness, tangent_kernel
from attnflow.training import Grid, Stage
from attnflow.training.rules import Batches, GradientDescent, SignGD

TASK = SignalClassesTask(samples=6, class_count=3, embed=7, length=2, test_samples=5)
NAMES = ("loss", "accuracy", "margin", "pair_score", "value", "test_loss")
STEPS = 80


def plan(rule, **changes):
    parts = {
        "task": TASK,
        "problem": Problem(Classes(3), Logistic(), 0.7),
        "initial": Initial(3, 0.8, Vector(0.3)),
        "stages": (Stage(rule, STEPS),),
        "grid": Grid(stop=STEPS, count=5),
        "observables": NAMES,
    }
    return experiment(**{**parts, **changes})


def by_pytorch(rate, weights, *, signs):
    """Losses, accuracies and test losses of a loop, at the same records."""
    torch = pytest.importorskip("torch")
    with af.precise():
        one = plan(GradientDescent(rate))
        both = [
            draw(one, 0, None) for draw in (members.samples_of, members.test_samples_of)
        ]
    sets = [
        [
            torch.tensor(x)
            for x in (d.host_tokens[np.asarray(d.key)], np.asarray(d.label, int))
        ]
        for d in both
    ]
    leaves = {n: torch.tensor(w, requires_grad=True) for n, w in weights.items()}

    def seen(x, y):
        keys = torch.einsum("hmd,nkd->nhkm", leaves["W_K"], x)
        queries = torch.einsum("hmd,nkd->nhkm", leaves["W_Q"], x)
        paid = torch.softmax(0.7 * queries @ keys.transpose(-1, -2), -1)
        values = torch.einsum("hd,nkd->nhk", leaves["w"], x)
        paid = paid.expand(-1, values.shape[1], -1, -1)
        logits = torch.einsum("nhqk,nhk->nh", paid, values) / x.shape[1]
        right = (logits.argmax(1) == y).double().mean()
        return torch.nn.functional.cross_entropy(logits, y), float(right)

    rows = []
    for step in range(STEPS + 1):
        loss, right = seen(*sets[0])
        if step % (STEPS // 4) == 0:
            rows.append((loss.item(), right, seen(*sets[1])[0].item()))
        for leaf, slope in zip(
            leaves.values(),
            torch.autograd.grad(loss, list(leaves.values())),
            strict=True,
        ):
            leaf.data -= rate * (torch.sign(slope) if signs else slope)
    return np.array(rows).T


DESCENT, SIGNS = GradientDescent(0.5), SignGD(0.004)
CASES = {
    "descent": (DESCENT, ("weights", "transport", "gram", "tokens"), False),
    "signs": (SIGNS, ("weights", "signs"), False),
    "one attention": (DESCENT, ("weights", "transport", "gram"), True),
    "one attention, signs": (SIGNS, ("weights",), True),
}


def given_weights(heads=3):
    draw = np.random.default_rng(1)
    shapes = {"W_K": (heads, 3, 7), "W_Q": (heads, 3, 7), "w": (3, 7)}
    return {name: 0.4 * draw.standard_normal(shape) for name, shape in shapes.items()}


@pytest.mark.parametrize(
    "case", mostly_slow(CASES, "descent", "signs", "one attention, signs")
)
def test_every_form_equals_pytorch(case):
    rule, forms, shared = CASES[case]
    weights = given_weights(1 if shared else 3)
    initial = Initial(3, 0.8, Vector(0.3), shared=shared)
    losses, right, test_losses = by_pytorch(
        rule.learning_rate, weights, signs=rule is SIGNS
    )
    assert losses[-1] < losses[0] - 0.1
    first = None
    for form in forms:
        one = plan(rule, form=form, initial=initial)
        ours = run(one, weights=weights).isel(seed=0)
        np.testing.assert_allclose(ours["loss"], losses, rtol=1e-11, err_msg=form)
        np.testing.assert_allclose(ours["test_loss"], test_losses, rtol=1e-11)
        np.testing.assert_allclose(ours["accuracy"], right, rtol=1e-13)
        first = ours if first is None else first
        for name in ("margin", "pair_score", "value"):
            np.testing.assert_allclose(
                ours[name], first[name], rtol=1e-9, atol=1e-11, err_msg=name
            )
    chosen = run(plan(rule, initial=initial), weights=weights).attrs
    assert chosen["form"] in (forms[1:] or forms)
    assert len(forms) > 1 or "heads share one attention" in chosen["form_reason"]


def test_one_attention_is_refused_where_each_head_has_its_own():
    initial = Initial(3, 0.8, Vector(0.3), shared=True)
    with pytest.raises(ValueError, match="all share one attention"):
        run(plan(DESCENT, form="tokens", initial=initial))
    with pytest.raises(ValueError, match="all heads share one attention"):
        run(plan(DESCENT, initial=initial), lift=True)


@pytest.mark.usefixtures("precise")
@pytest.mark.parametrize("form", mostly_slow(["weights", "gram"], "gram"))
def test_curvature_through_one_attention(form):
    """Sharpness and its Gauss–Newton part, against all weights by autodiff."""
    initial = Initial(3, 0.8, Vector(0.3), shared=True)
    names = (*NAMES, "sharpness")
    weights = given_weights(1)
    both = [
        members.build_members(
            plan(DESCENT, form=name, initial=initial, observables=names),
            [0],
            None,
            weights,
        ).members[0]
        for name in ("weights", form)
    ]
    dense = full_spectrum(*both[0])[-1]
    system, state = both[1]
    top = eqx.filter_jit(sharpness)(system, state, system.widths)
    assert float(top) == pytest.approx(dense, rel=1e-10)
    kernel = np.asarray(eqx.filter_jit(tangent_kernel)(system, state))
    np.testing.assert_allclose(kernel, full_kernel(*both[0]), rtol=1e-10, atol=1e-12)


def _unshared(self, heads, label):
    return SLOPE(self, heads, label) * (heads != heads[:, :1])


SLOPE = Classes.slope


def test_a_wrong_slope_is_caught():
    rule, weights = CASES["descent"][0], given_weights()
    losses = by_pytorch(rule.learning_rate, weights, signs=False)[0]
    with mutated(Classes, "slope", _unshared):
        ours = run(plan(rule, form="gram"), weights=weights)["loss"][0]
    assert np.abs(ours - losses).max() > 1e-3


def _of_one_head(forces):
    return {"scores": forces.scores[:1], "values": forces.values}


def test_the_force_of_one_head_alone_is_caught():
    weights = given_weights(1)
    losses = by_pytorch(DESCENT.learning_rate, weights, signs=False)[0]
    initial = Initial(3, 0.8, Vector(0.3), shared=True)
    with mutated(shared_form, "by_blocks", _of_one_head):
        ours = run(plan(DESCENT, form="gram", initial=initial), weights=weights)
    assert np.abs(ours["loss"][0] - losses).max() > 1e-4


def test_labels_that_are_no_classes():
    rule = GradientDescent(0.1)
    with pytest.raises(
        ValueError, match=r"labels 0 to 2, and there are labels \[-1.0\]"
    ):
        run(plan(rule, task=MixtureTask()))
    stages = (Stage(rule, STEPS, batches=Batches(3, flip=0.1)),)
    with pytest.raises(ValueError, match="sign of labels"):
        run(plan(rule, stages=stages))
    with pytest.raises(ValueError, match="at least two classes"):
        Classes(1)


def test_by_name():
    sizes = {"samples": 6, "embed": 8, "steps": 5, "records": 3, "width": 8}
    sizes["learning_rate"] = 0.5
    ours = af.run("mix/signal-classes", store=False, **sizes)
    assert ours.attrs["form"] != "weights" and ours.sizes["head"] == 3
    assert float(ours["loss"][0, -1]) < float(ours["loss"][0, 0])
