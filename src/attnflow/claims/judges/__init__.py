"""Judges as records: each says what is compared, and the claim's kind by which rule.

A *measure* takes a run and gives a table. A record reduces it to its worst entry, seed
by seed, and compares; so "for all samples, tokens and times" needs no code. An entry
that is NaN is not known, and the seed is not known then.

| record | holds where |
|---|---|
| `AtLeast`, `AtMost`, `Near` | the worst entry keeps to the bound |
| `Equal` | an error is within arithmetic |
| `Rungs` | measured / predicted along sizes follows the ladder rule |
| `Line` | a fitted slope is the stated one |
| `Rising`, `Falling` | values go in turn along a dim, or along the runs |
| `Rarely` | failures are as rare as stated |
| `InOrder` | stages end one after the other |
| `FromSizeOn` | the largest sizes keep to a bound |
| `All` | all parts hold |

A record is called with the evidence and gives a `Finding`; `words` is the predicate.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
