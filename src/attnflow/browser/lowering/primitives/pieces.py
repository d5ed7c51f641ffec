"""Arrays put together of pieces."""

from attnflow.browser.lowering.lowering import (
    Equation,
    Lowering,
    copy,
    lowers,
    nest,
    place_of,
    scalar,
)
from attnflow.browser.lowering.values import (
    Indices,
    Unsupported,
    Value,
    keep,
    kind_of,
    ravel,
)
from attnflow.browser.wasm.nodes import Index, Statement

Values = list[Value]


@lowers("concatenate")
def _concatenate(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    axis, start = equation.params["dimension"], 0
    whole = _output(lowering, equation, level)
    for value in inputs:
        lowering.put(level, _moved(value, whole, axis, start))
        start += value.shape[axis]
    return [whole]


@lowers("stack")
def _stack(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    params = equation.params
    axis = params["axis"] if "axis" in params else params["dimension"]
    whole = _output(lowering, equation, level)
    for number, value in enumerate(inputs):

        def body(
            indices: Indices, number: int = number, value: Value = value
        ) -> list[Statement]:
            new = [*indices[:axis], Index(number), *indices[axis:]]
            entry = value.read(indices)
            return [keep(place_of(whole), ravel(new, whole.shape), entry)]

        lowering.put(level, nest(value.shape, body))
    return [whole]


@lowers("pad")
def _pad(lowering: Lowering, equation: Equation, inputs: Values, level: int) -> Values:
    value, filler = inputs
    config = equation.params["padding_config"]
    if any(low < 0 or high < 0 or inner for low, high, inner in config):
        raise Unsupported(f"The padding {config} cannot be compiled for the web.")
    whole = _output(lowering, equation, level)
    fill = Value(whole.shape, whole.kind, lambda _: scalar(filler), level=level)
    lowering.put(level, copy(fill, place_of(whole)))

    def body(indices: Indices) -> list[Statement]:
        new = [i + low for i, (low, _, _) in zip(indices, config, strict=True)]
        return [keep(place_of(whole), ravel(new, whole.shape), value.read(indices))]

    lowering.put(level, nest(value.shape, body))
    return [whole]


def _output(lowering: Lowering, equation: Equation, level: int) -> Value:
    aval = equation.outvars[0].aval
    return lowering.new(aval.shape, kind_of(aval.dtype), level)


def _moved(value: Value, whole: Value, axis: int, start: int) -> list[Statement]:
    """Write an array into a larger one, from a start along an axis."""

    def body(indices: Indices) -> list[Statement]:
        new = list(indices)
        new[axis] = new[axis] + start
        return [keep(place_of(whole), ravel(new, whole.shape), value.read(indices))]

    return nest(value.shape, body)
