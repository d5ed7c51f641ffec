"""The figures of `scansnap`, one file for each kind."""
