# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Gradient flow and gradient descent on one clock
#
# Gradient descent with rate η takes t/η steps to the time t of gradient flow. How far
# do they part?

# %%
import matplotlib.pyplot as plt

import attnflow as af

END = 150.0
flow = af.run("mixture/flow", width="infinite", steps=END, records=151)
figure, axes = plt.subplots()
axes.semilogy(flow["time"], flow["loss"][0], "k", label="gradient flow")
apart = {}
for rate in (0.02, 0.1, 0.5, 2.0):
    run = af.run(
        "mixture/figure1",
        width="infinite",
        learning_rate=rate,
        steps=END / rate,
        at=[round(k / rate) for k in range(0, 151, 2)],
    )
    clock = rate * run["time"].values
    axes.semilogy(clock, run["loss"][0], label=f"descent, η = {rate}")
    exact = flow["loss"][0].interp(time=clock)
    apart[rate] = float(abs(run["loss"][0].values / exact.values - 1).max())
axes.set(xlabel="time = rate × steps", ylabel="loss")
axes.legend()
# %% [markdown]
# The distance shrinks with the rate; at 0.02 the loss follows the flow's to half a
# percent:

# %%
for rate, gap in apart.items():
    print(f"rate {rate:5}  largest relative difference of the loss {gap:.4f}")
assert apart[0.02] < 0.01 < apart[0.1] < apart[0.5]

# %% [markdown]
# A flow can say how exact it is: repeated at a tenth of its tolerance, each observable
# changes by so much, relative to its largest entry. (Not so accuracies: at infinite
# width the margins of conflicting samples are exactly zero at first, and rounding
# decides on which side they count.)

# %%
check = af.run("mixture/flow", width="infinite", steps=END, records=151, check=True)
changes = check["refinement_by_observable"].isel(seed=0).to_pandas()
print(changes)
assert changes[["loss", "score", "value"]].max() < 1e-9
