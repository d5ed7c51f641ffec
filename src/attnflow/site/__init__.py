"""Figures and tables of papers as files, and the pages that show them."""
