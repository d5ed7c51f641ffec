"""Losses and accuracies on samples that are never trained on."""

from jaxtyping import Array

from attnflow.observables.registry import observable
from attnflow.observables.view import View


@observable(about="mean loss on the test samples")
def test_loss(view: View) -> Array:  # noqa: D103
    return view.test.mean(view.test.losses)


@observable(about="accuracy on the test samples")
def test_accuracy(view: View) -> Array:  # noqa: D103
    return view.test.mean(view.test.correct)


@observable(
    "group", about="mean loss within each group of test samples", group_means="test"
)
def test_loss_by_group(view: View) -> Array:  # noqa: D103
    return view.test.by_group(view.test.losses)


@observable(
    "group", about="accuracy within each group of test samples", group_means="test"
)
def test_accuracy_by_group(view: View) -> Array:  # noqa: D103
    return view.test.by_group(view.test.correct)
