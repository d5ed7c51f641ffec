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
# # Attention as it is learned
#
# The attention maps of the positive head over training, with the loss below, as an
# animation.

# %%
import attnflow as af
from attnflow import figures

run = af.run("mixture/figure1", width="infinite", records=101)
film = figures.animate(run, fixed={"head": "+"}, frames=24, seconds=4)
film

# %% [markdown]
# As a file: `.gif`, a page (`.html`), or `.mp4` where ffmpeg is installed.

# %%
path = film.save("attention.gif")
print(path.stat().st_size > 10_000)
assert path.exists()
