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
# # Figure 1 in five lines
#
# A two-headed transformer learns a two-mixture of linear classification (paper B,
# `mixture`): the neurons first, then, after a plateau, attention.

# %%
import attnflow as af

run = af.run("mixture/figure1", seeds=3)
loss = run["loss_by_group"].mean("seed").drop_vars("clock")
loss.plot.line(x="time", yscale="log")
# %% [markdown]
# A run is an `xarray.Dataset`, and shows what it is:

# %%
run.attnflow

# %% [markdown]
# Its stages of learning, the paper's formula beside the detected time, are those of
# the command `attnflow run mixture/figure1`. Conflicting samples are learned after
# consistent ones, in every seed:

# %%
learned = run["loss_by_group"] < 0.1
steps = run["time"].where(learned).min("time")
print(steps.to_pandas())
assert (steps.sel(group="conflicting") > 5 * steps.sel(group="consistent")).all()

# %% [markdown]
# A paper and its claims print as tables here:

# %%
af.paper("mixture")

# %%
af.paper("mixture").claims["B-L6.1"]
