"""Functions of JAX, compiled for the web and run by wasmtime."""

import jax
import numpy as np

from attnflow.browser.host import Instance
from attnflow.browser.lowering import Lowering
from attnflow.browser.lowering.lowering import copy
from attnflow.browser.lowering.memory import place
from attnflow.browser.lowering.values import Place, as_cells, in_memory, kind_of
from attnflow.browser.program import assemble, functions_of
from attnflow.browser.wasm.nodes import Buffer


def compiled(function, *args, level=1):
    """The outputs of a function, computed by WebAssembly; arguments have a level."""
    jaxpr = jax.make_jaxpr(function)(*args)
    lowering = Lowering()
    arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(args)]
    levels = [level] * len(arrays) if isinstance(level, int) else level
    inputs, buffers = [], []
    for array, own in zip(arrays, levels, strict=True):
        buffer = Buffer(array.size, kept=True)
        buffers.append(buffer)
        value = in_memory(Place(buffer), array.shape, kind_of(array.dtype), level=own)
        value.example = lambda array=array: array
        inputs.append(value)
    lowering.blocks.append([])
    results = lowering.closed(jaxpr, inputs)
    outputs = [Buffer(value.size, kept=True) for value in results]
    for value, buffer in zip(results, outputs, strict=True):
        lowering.put(1, copy(value, Place(buffer)))
    phases = {"prepare": lowering.blocks[0], "compute": lowering.blocks[1]}
    cells = place(phases, [*buffers, *outputs, *(b for b, _ in lowering.contents)])
    contents = [(buffer.offset, data) for buffer, data in lowering.contents]
    instance = Instance(assemble(functions_of(phases), cells=cells, contents=contents))
    for array, buffer in zip(arrays, buffers, strict=True):
        cells = as_cells(array)
        heap = instance.heap if cells.dtype == float else instance.integers
        heap[buffer.offset : buffer.offset + cells.size] = cells
    instance.call("prepare")
    # Twice: what is written over must not matter.
    instance.call("compute")
    instance.call("compute")
    got = []
    for value, buffer in zip(results, outputs, strict=True):
        heap = instance.heap if value.kind == "float64" else instance.integers
        cells = heap[buffer.offset : buffer.offset + value.size].copy()
        got.append(cells.reshape(value.shape))
    return got


def check(function, *args, level=1, rtol=1e-14):
    """Hold the compiled function to JAX, relative to each output's largest entry."""
    expected = jax.tree.leaves(jax.jit(function)(*args))
    for mine, theirs in zip(
        compiled(function, *args, level=level), expected, strict=True
    ):
        theirs = np.asarray(theirs)
        assert mine.shape == theirs.shape
        if theirs.dtype != float:
            np.testing.assert_array_equal(mine, theirs.astype(np.int64))
            continue
        finite = theirs[np.isfinite(theirs)]
        scale = np.abs(finite).max(initial=0.0)
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=rtol * max(scale, 1e-300))
