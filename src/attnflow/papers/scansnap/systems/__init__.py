"""Systems of `scansnap` beside training: the decoder alone, Q and C."""
