"""Printing from compiled functions, as jax.debug.print."""
import builtins
import json
import re

from wick.errors import InvalidArgument, Unsupported
from wick.trace import ops, scope as scopes
from wick.trace.scope import fail, name_of


def callback(callback, *args, ordered=False, **named):
    """Refused: a compiled function does not call Python."""
    fail(Unsupported, "wick.debug.callback: a compiled function does not call Python. Return what the call needs, or use wick.debug.print")


def print(fmt, *args, ordered=False, **named):
    """Prints a line when the compiled function runs: the text with the arrays in place of {} and {name}."""
    if scopes.current() is None:
        builtins.print(fmt.format(*args, **named))
        return
    parts, count = [], 0
    for k, piece in enumerate(re.split(r"\{([^{}]*)\}", fmt)):
        if k % 2 == 0:
            parts += [json.dumps(piece.strip(), ensure_ascii=False)] if piece.strip() else []
            continue
        name = piece.partition(":")[0]
        if name == "":
            name, count = str(count), count + 1
        if name not in named and not (name.isdigit() and int(name) < len(args)):
            fail(InvalidArgument, f"debug.print: nothing is given for {{{piece}}} in {fmt!r}")
        parts.append(name_of(ops.array(args[int(name)] if name.isdigit() else named[name])))
    scopes.current().add(f"print({', '.join(parts)})")
