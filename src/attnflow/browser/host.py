"""Kernels run by wasmtime: the bytes that a browser runs, in Python.

wasmtime is an extra for tests; the package itself needs no engine.
"""

import ctypes

import numpy as np
import wasmtime

from attnflow.browser.wasm.module import PAGE
from attnflow.browser.wasm.nodes import CELL


class Instance:
    """A module in memory; `heap` and `integers` are views of its cells."""

    def __init__(self, module: bytes):
        engine = wasmtime.Engine()
        self._store = wasmtime.Store(engine)
        compiled = wasmtime.Module(engine, module)
        instance = wasmtime.Instance(self._store, compiled, [])
        self._exports = instance.exports(self._store)
        memory = self._exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        self._memory = memory

    def call(self, name: str, *args: float) -> float:
        """The result of an exported function."""
        function = self._exports[name]
        assert isinstance(function, wasmtime.Func)
        return function(self._store, *args)

    def reserve(self, cells: int) -> None:
        """Grow the memory to this many cells, if it has fewer."""
        missing = CELL * cells - self._memory.data_len(self._store)
        if missing > 0:
            self._memory.grow(self._store, -(-missing // PAGE))

    @property
    def heap(self) -> np.ndarray:
        """All cells as float64; a view of a memory that may yet grow."""
        size = self._memory.data_len(self._store)
        data = ctypes.cast(self._memory.data_ptr(self._store), ctypes.c_void_p).value
        assert data is not None
        cells = (ctypes.c_double * (size // CELL)).from_address(data)
        return np.ctypeslib.as_array(cells)

    @property
    def integers(self) -> np.ndarray:
        """All cells as int64, likewise."""
        return self.heap.view(np.int64)
