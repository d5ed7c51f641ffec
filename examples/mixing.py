"""Rules and tasks that no paper put together, and what comes of it.

    python examples/mixing.py          (half a minute of one core)

**SignGD on co-occurrence.** Gradient descent balances the three words (its values tend
to 1 : 1 : −1) and generalises. Signs of gradients move the value of every filler as
fast as that of a word that is in every sample: fillers are memorised, nothing balances,
and at the same training loss the test loss is more than three times as large.

**Gradient flow on signal and noise.** SignGD memorises noise: its attention leaves the
signal, and one in seven fresh samples is classified wrongly. The flow moves a value in
proportion to how many samples pull on it, and the signal is in all of them: its value
alone fits the training set before the scores, which start at the square of a small
scale, have moved. Attention stays where it was, and every fresh sample is right.

**Adam on the two-mixture.** Under gradient descent attention waits: its plateau grows
with the logarithm of the initial scale. Adam divides by the size of gradients, small as
they are: scores move at the learning rate from the first step, whatever the initial
scale, and attention comes before the neurons that it waits for under descent.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

import attnflow as af

Numbers = dict[str, dict[str, float]]


def signgd_on_cooccurrence(level: float = 0.02, **setting: Any) -> Numbers:
    """By rule: the test where the training loss falls to a level, and the values.

    attnflow run cooccurrence/figure1 rule=signgd learning_rate=1e-4 steps=600
    """
    courses = {
        "signgd": {"learning_rate": 1e-4, "steps": 600},
        "gd": {"learning_rate": 0.01, "steps": 8000},
    }
    found: Numbers = {}
    for rule, course in courses.items():
        fixed = {"rule": rule, "test_samples": 1000, "records": 101}
        run = af.run("cooccurrence/figure1", **fixed, **course, **setting)
        then = run.isel(seed=0, time=first(run["loss"][0] <= level))
        words = then["value"].isel(head=0).values
        found[rule] = {
            "test loss": float(then["test_loss"]),
            "test accuracy": float(then["test_accuracy"]),
            "first over third word": float(words[0] / words[2]),
        }
    return found


def flow_on_signal_noise(level: float = 0.02, **setting: Any) -> Numbers:
    """By rule: what is attended to where the loss falls to a level, and the test.

    attnflow run mix/signal-noise rule=flow steps=300 values=class-means neurons=4
    """
    sizes = {"samples": 10, "embed": 400, "support": 16, "test_samples": 20}
    model = {"width": 20, "omega": 0.02, "neurons": 4, "value_scale": 0.005}
    courses = {
        "flow": {"steps": 300.0},
        "signgd": {"steps": 1500.0, "learning_rate": 2e-4},
    }
    found: Numbers = {}
    for rule, course in courses.items():
        fixed = {"rule": rule, "values": "class-means", **sizes, **model}
        observed = ["test_loss", "test_accuracy"]
        run = af.run("mix/signal-noise", record=observed, **fixed, **course, **setting)
        then = run.isel(seed=0, time=first(run["loss"][0] <= level))
        # A sample is its signal and its noise, in this order.
        to_signal = then["attention"].isel(key_position=0, query_position=1)
        found[rule] = {
            "attention to the signal": float(to_signal.mean()),
            "test loss": float(then["test_loss"]),
            "test accuracy": float(then["test_accuracy"]),
        }
    return found


def adam_on_mixture(
    omegas: Sequence[float] = (0.1, 0.01, 0.001), **setting: Any
) -> Numbers:
    """By rule and initial scale: when a score reaches 1/2, and groups are learned.

    attnflow run mixture/figure1 rule=adam learning_rate=0.01 steps=500 omega=0.001
    """
    courses = {
        "adam": {"learning_rate": 0.01, "steps": 500.0, "records": 501},
        "gd": {"learning_rate": 0.1, "steps": 3000.0, "records": 601},
    }
    found: Numbers = {}
    for rule, course in courses.items():
        for omega in omegas:
            fixed = {"rule": rule, "omega": omega, "width": 64}
            run = af.run("mixture/figure1", **fixed, **course, **setting).isel(seed=0)
            losses = run["loss_by_group"]
            falls = {
                name: run["time"][first(losses.sel(group=name) <= level)]
                for name, level in (("consistent", 0.1), ("conflicting", 0.1))
            }
            attends = run["time"][first(run["largest_score"] >= 0.5)]
            found[f"{rule}, omega {omega:g}"] = {
                "score at 1/2": float(attends),
                **{f"{name} at 0.1": float(time) for name, time in falls.items()},
            }
    return found


def first(true: xr.DataArray) -> int:
    """The first record at which something is so."""
    found = np.flatnonzero(true.values)
    if not len(found):
        raise ValueError("It never came to that: train for longer.")
    return int(found[0])


def main() -> None:
    """Run the three and print what came out."""
    for finding in (signgd_on_cooccurrence, flow_on_signal_noise, adam_on_mixture):
        print(finding.__name__.replace("_", " "))
        for name, numbers in finding().items():
            told = ", ".join(f"{what} {value:.3g}" for what, value in numbers.items())
            print(f"  {name}: {told}")


if __name__ == "__main__":
    main()
