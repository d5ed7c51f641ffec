"""Runs on request: computed once, stored, read back; verdicts from them."""
