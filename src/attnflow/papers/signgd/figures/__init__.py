"""The figures and tables of `signgd`, one file for each kind."""
