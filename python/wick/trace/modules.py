"""Functions of `.wick` files inside of a trace: the program that is recorded uses their module."""
import os

from wick.errors import TypeMismatch, Unsupported
from wick.language import _flatten, _rebuild
from wick.trace import ops, scope as scopes
from wick.trace.scope import emit, fail, name_of, type_text


def call(function, args, named):
    """Records a call of a function of a module with tensors, and tuples and structs of them."""
    model = function.model
    if any(t is not None for types in function._types for t in types):
        fail(Unsupported, f"{function.name}: values of data types are not supported in a traced function")
    folder, file = os.path.split(os.path.abspath(function.module.__file__))
    stem, root = file.removesuffix(".wick"), scopes.current().root
    if root.folder not in (None, folder):
        fail(Unsupported, f"{function.name}: a traced function uses the modules of one folder, {root.folder} and {folder} are used")
    root.folder, root.modules[stem] = folder, True
    leaves, at = [], 1
    for name, argument in zip(function.parameters, function._arguments(args, named)):
        at = _flatten(function._parameters, at, argument, name, leaves)
    sizes, texts = {}, []
    for port, (where, value) in zip(model.inputs, leaves):
        x = ops.as_elem(value, port.elem) if ops.is_number(value) else ops.array(value)
        if x.elem != port.elem or len(port.shape) != x.ndim or any(d >= 0 and d != n for d, n in zip(port.shape, x.shape)):
            want = [str(d) if d >= 0 else s or "?" for d, s in zip(port.shape, port.symbols)]
            fail(TypeMismatch, f"{function.name}: {where} is {port.elem}[{', '.join(want)}], {type_text(x.elem, x.shape)} is given")
        sizes.update({s: n for d, s, n in zip(port.shape, port.symbols, x.shape) if d < 0})
        texts.append(name_of(x))
    given, at, names = [], 1, iter(texts)
    for _ in function.parameters:
        text, at = _text(function._parameters, at, names, stem)
        given.append(text)
    whole = root.fresh("r")
    scopes.current().add(f"let {whole} = {stem}.{function.name}({', '.join(given)})")
    places, _ = _places(function._result, 0, whole)
    made = [emit(place, p.elem, _shape(function, p, sizes)) for place, p in zip(places, model.outputs)]
    return _rebuild(function._result, 0, iter(made), function.module)[0]


def _text(parts, at, names, stem):
    """The text of an argument, and the part after it."""
    _, struct, leaf, n = parts[at]
    at += 1
    if leaf:
        return next(names), at
    items = []
    for _ in range(n):
        field = parts[at][0]
        text, at = _text(parts, at, names, stem)
        items.append(f"{field} = {text}" if struct else text)
    inner = ", ".join(items)
    return (f"{stem}.{struct}({inner})" if struct else f"({inner},)" if n == 1 else f"({inner})"), at


def _places(parts, at, text):
    """The tensors of a result as expressions, and the part after it."""
    _, struct, leaf, n = parts[at]
    at += 1
    if leaf:
        return [text], at
    out = []
    for k in range(n):
        more, at = _places(parts, at, f"{text}.{parts[at][0] if struct else k}")
        out += more
    return out, at


def _shape(function, port, sizes):
    shape = []
    for d, symbol in zip(port.shape, port.symbols):
        try:
            shape.append(d if d >= 0 else int(eval(symbol, {"__builtins__": {}}, dict(sizes))))  # "n", "2*n + 1"
        except (SyntaxError, NameError, TypeError):
            fail(Unsupported, f"{function.name}: the size {symbol or '?'} of its result does not follow from the arguments")
    return tuple(shape)
