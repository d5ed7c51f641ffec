"""Experiments compiled for the web: from jaxprs to loops to WebAssembly."""
