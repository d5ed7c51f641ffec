"""How shallow transformers learn, exactly where that is possible.

A paper is a set of experiments, figures and tables, and claims; look at one, run one
of its experiments, check what it claims:

    >>> import attnflow as af
    >>> af.paper("mixture").recipe("figure1").title
    'All weights together by gradient descent'
    >>> run = af.run("mixture/figure1", steps=20, records=3, store=False)
    >>> dict(run["loss"].sizes)
    {'seed': 1, 'time': 3}
    >>> af.paper("mixture").claims["B-L6.1"].place
    'Lemma 6.1'

| to | use |
|---|---|
| see what there is | `af.paper(slug)`, and `.claims`, `.recipes`, `.exhibits` of it |
| run an experiment | `af.run(name, seeds=…, setting=…)`: an `xarray.Dataset` |
| read a run | `run.attnflow`; `attnflow.schema` says what is in it |
| check claims | `af.paper(slug).claims.verify(seeds=5)` |
| draw figures and tables | `af.reproduce("mixture/figure1a")` |
| move sliders, in a notebook or a browser | `af.explore("mixture/figure1")` |
| map a setting | `af.sweep(name, omega="0.01..1:9:log")` |
| build your own | `af.Builder`, `af.Task`, `af.sequences`, `af.Problem`, `af.Initial` |
| write a paper of your own | `attnflow new-paper NAME`; docs/your-own-paper.md |
| cite | `af.citation(slug)` |

The names of `__init__.pyi` are imported when they are first used, so that
`attnflow --help` and everything that only reads runs stay free of JAX.
"""

import lazy_loader

from attnflow._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
