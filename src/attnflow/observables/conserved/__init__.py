"""Conserved quantities of gradient flow."""

from attnflow.observables.conserved.drift import drift as drift
