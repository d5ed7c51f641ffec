"""Figures of `vit`, one file for each or for a few that are drawn alike."""
