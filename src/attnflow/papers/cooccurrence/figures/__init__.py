"""The figures of `cooccurrence`, one file for each kind."""
