"""Checkpoints in files: npz, safetensors, and what PyTorch saves."""

import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attnflow.experiments.record import load


def read_checkpoint(path: str | Path) -> Mapping[Any, Any]:
    """What is in a file of checkpoints, by its names (or by its times)."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"There is no file {path}: give one of {_allowed()}.")
    if path.suffix not in _READERS:
        raise ValueError(
            f"{path} ends in {path.suffix or 'nothing'}: give one of {_allowed()}."
        )
    return _READERS[path.suffix](path)


def _npz(path: Path) -> Mapping[str, Any]:
    found = load(path)
    assert found is not None
    return found


def _safetensors(path: Path) -> Mapping[str, Any]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(path)
    except (SafetensorError, OSError, KeyError, TypeError) as error:
        # Types that NumPy lacks (bfloat16) come as errors of a name or a type.
        raise ValueError(
            f"{path} could not be read as safetensors ({error!r}): save it by "
            "safetensors.torch.save_file, in float32 or float64."
        ) from error


def _torch(path: Path) -> Mapping[Any, Any]:
    try:
        import torch
    except ImportError as error:
        raise ValueError(
            f"{path} was saved by PyTorch, which is not installed: pip install "
            "'attnflow[torch]', or save it as .safetensors or .npz."
        ) from error
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError, OSError) as error:
        # PyTorch's own message advises to read it unsafely, and we do not.
        raise ValueError(
            f"{path} could not be read by PyTorch as weights alone "
            f"({type(error).__name__}): save a state dict (model.state_dict(), not the "
            "model), or a dictionary of them by step, by torch.save."
        ) from error
    if not isinstance(found, Mapping):
        raise ValueError(
            f"{path} holds a {type(found).__name__}: save a state dict "
            "(model.state_dict()), or a dictionary of them by step."
        )
    return found


_READERS: dict[str, Callable[[Path], Mapping[Any, Any]]] = {
    ".npz": _npz,
    ".safetensors": _safetensors,
    ".pt": _torch,
    ".pth": _torch,
}


def _allowed() -> str:
    return ", ".join(_READERS)
