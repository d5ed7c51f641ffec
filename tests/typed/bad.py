"""Mistakes of a user, each of which the types must show."""

import attnflow as af
from attnflow import figures
from attnflow.claims import Verdict

paper = af.paper(3)  # not a name
table = af.paper("mixture").claims.verify("B-L6.1", seeds="five")  # not a number
verdict: Verdict = table["B-L6.1"].verdikt  # no such field
run = af.run("mixture/figure1")
figures.animate(run, frames="many")  # not a number
figures.animat(run)  # no such function
number: int = af.citation("mixture")  # a text
