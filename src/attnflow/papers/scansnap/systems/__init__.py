"""Dynamical systems of `scansnap` other than J: the decoder alone, Q and C."""
