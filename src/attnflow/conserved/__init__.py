"""Conserved quantities of gradient flow."""

from attnflow.conserved.drift import drift as drift
