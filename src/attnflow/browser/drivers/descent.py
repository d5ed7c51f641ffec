"""The driver of a descent: steps from record to record, up to an event."""

from attnflow.browser.drivers.control import DIVERGED, EVENT, Memory
from attnflow.browser.wasm.nodes import (
    Do,
    Function,
    If,
    Index,
    Local,
    Return,
    Set,
    Statement,
    While,
    at,
    binary,
    compare,
    convert,
    equal,
    load,
)


def descent(memory: Memory, step_at: int, *, every: int | None) -> Function:
    """`advance(marks, first, last, rows)`: the records from `first` to `last − 1`.

    `marks` is the cell where the steps to record at begin, `rows` that of the records.
    The state's cell `step_at` counts steps, as the step itself does. An event is
    evaluated every `every` steps after the start; `None` where there is none.

    **Returns:** how many records there are now; fewer than `last` where the stage has
    ended, which `status` and `end` tell of. The row is then that of the end.
    """
    marks, first, last, rows = (Local("i32") for _ in range(4))
    number, target = Local("i32"), Local("f64")
    count = load(memory.state, Index(step_at), "i64")
    step = convert("f64.convert_i64_s", "f64", count)
    ended: list[Statement] = [
        memory.set("status", EVENT),
        memory.set("end", step),
        Do("observe"),
        If(equal(step, target), [*memory.record(rows, number), Return(number + 1)]),
        Return(number),
    ]
    move: list[Statement] = [Do("step")]
    if every is not None:
        due = equal(binary("rem_s", count, every), 0)
        due = due & compare("gt", step, memory.get("start"))
        reached = compare("ge", memory.get("event"), 0.0)
        move.append(If(due, [Do("event"), If(reached, ended)]))
    diverged: list[Statement] = [
        memory.set("status", DIVERGED),
        memory.set("end", step),
        Do("observe"),
        Return(number),
    ]
    body: list[Statement] = [
        Set(target, load(None, at(marks) + at(number))),
        While([], compare("lt", step, target), move),
        *memory.unless_finite(diverged),
        Do("observe"),
        *memory.record(rows, number),
        Set(number, number + 1),
    ]
    walk = While([], compare("lt", number, last), body)
    statements: list[Statement] = [Set(number, first), walk, Return(number)]
    params = (marks, first, last, rows)
    return Function("advance", params, "i32", statements, exported=True)
