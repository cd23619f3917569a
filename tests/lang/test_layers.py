"""The library's functions natively and by the evaluator, in f32 and f64, beside NumPy; their gradients beside differences."""

import json
import re

import numpy as np
import pytest
from library_layers import FAMILIES as LAYERS
from library_values import DRAWS, ELSEWHERE, VALUES
from running import ROOT, agree, evaluated_call, flat, outputs

FAMILIES = LAYERS | VALUES
NUMERIC = ("nn", "attention", "recurrent", "losses", "init", "linalg", "optim", "random", "iteration")
MODULES = (*NUMERIC, "list { List }", "array", "tree { Tree }", "option { Option }")


def typed(x, elem):
    return x.astype(elem.replace("f", "float")) if x.dtype.kind == "f" else x


def type_of(x):
    name = {"f": f"f{8 * x.itemsize}", "i": "i64", "b": "bool"}[x.dtype.kind]
    return f"{name}[{', '.join(map(str, x.shape))}]"


def wrt(row):
    return [i for i, (n, x) in enumerate(row.args.items()) if x.dtype.kind == "f" and n not in row.still] if row.smooth else []


def program(rows, elem, grads):
    """`every` applies each row, or differentiates a sum of sines of its results."""
    lines, params, calls = [f"use {m}" for m in MODULES], [], []
    for name, row in rows.items():
        args = {n: typed(x, elem) for n, x in row.args.items()}
        own = ", ".join(f"{n}: {type_of(x)}" for n, x in args.items())
        lines.append(f"fn of_{name}({own}) {{ {row.text} }}")
        parts = [f"y{i}" for i in range(row.count)]
        total = " + ".join(f"sum(sin({y} + 0.3))" for y in parts)
        bound = f"({', '.join(parts)})" if row.count > 1 else "y0"
        if wrt(row):
            lines.append(f"fn loss_{name}({own}) {{\n  let {bound} = of_{name}({', '.join(args)})\n  {total}\n}}")
        params += [f"{name}_{n}: {type_of(x)}" for n, x in args.items()]
        given = ", ".join(f"{name}_{n}" for n in args)
        if not grads:
            calls.append(f"of_{name}({given})")
        elif wrt(row):
            calls.append(f"grad(loss_{name}, wrt = ({', '.join(map(str, wrt(row)))},))({given})")
    return "\n".join([*lines, f"fn every({', '.join(params)}) {{ ({', '.join(calls)},) }}"]) + "\n"


def slope(row):
    """Differences of the oracle, of fourth order."""
    args, h, out = {n: x.copy() for n, x in row.args.items()}, 1e-3, []

    def loss():
        return sum(np.sin(np.asarray(y) + 0.3).sum() for y in flat(row.oracle(**args)))

    for i in wrt(row):
        x = args[list(args)[i]]
        g = np.zeros_like(x)
        for at in np.ndindex(x.shape):
            old, f = x[at], {}
            for k in (-2, -1, 1, 2):
                x[at] = old + k * h
                f[k] = loss()
            x[at] = old
            g[at] = (8 * (f[1] - f[-1]) - (f[2] - f[-2])) / (12 * h)
        out.append(g)
    return out


def both(rows, elem, grads, folder):
    """What the program gives natively, and by the evaluator."""
    path = folder / "p.wick"
    path.write_text(program(rows, elem, grads))
    words, texts = [], []
    for name, row in rows.items():
        for n, x in row.args.items():
            x = typed(x, elem)
            np.save(folder / f"{name}_{n}.npy", x)
            words.append(f"{name}_{n}={folder / f'{name}_{n}.npy'}")
            texts.append(json.dumps(x.tolist()))
    return outputs(folder / "run", path, "--entry", "every", "--inputs", *words), evaluated_call(path, f"every({', '.join(texts)})")


@pytest.mark.parametrize("elem", ["f32", "f64"])
@pytest.mark.parametrize("family", FAMILIES)
def test_values(family, elem, tmp_path):
    rows = FAMILIES[family]
    native, slow = both(rows, elem, False, tmp_path)
    agree(native, slow, family)
    at = 0
    for name, row in rows.items():
        for want in flat(row.oracle(**row.args)):
            found = native[at]
            at += 1
            assert found.shape == want.shape, name
            assert found.dtype == (elem.replace("f", "float") if want.dtype == np.float64 else want.dtype), name
            assert np.allclose(found, want, **({"rtol": 1e-10, "atol": 1e-10} if elem == "f64" else {"rtol": 1e-4, "atol": 2e-5})), name
    assert at == len(native)


@pytest.mark.parametrize("family", FAMILIES)
def test_gradients(family, tmp_path):
    rows = FAMILIES[family]
    native, slow = both(rows, "f64", True, tmp_path)
    at = 0
    for name, row in rows.items():
        for i, want in zip(wrt(row), slope(row)):
            for found in (native[at], slow[at]):
                assert np.allclose(found, want, rtol=1e-6, atol=1e-6), (name, list(row.args)[i], found, want)
            at += 1
    assert at == len(native)


def test_draws(tmp_path):
    """The largest distance between the distribution of 20,000 values, by one key, and the function that it should have."""
    (tmp_path / "p.wick").write_text("\n".join(f"use {m}" for m in MODULES) + f"\nfn draws(x: f64[20000]) {{ ({', '.join(DRAWS)}) }}\n")
    np.save(tmp_path / "x.npy", np.zeros(20000))
    found = outputs(tmp_path / "run", tmp_path / "p.wick", "--entry", "draws", "--inputs", tmp_path / "x.npy")
    for (text, function), values in zip(DRAWS.items(), found, strict=True):
        v = np.sort(values.ravel())
        n = len(v)
        away = abs(function(v) - (np.arange(n) + 0.5) / n).max()
        assert away < 1.95 / np.sqrt(n), (text, away * np.sqrt(n))  # one true distribution in 1,000 is further away


def test_each_function_has_a_row():
    """A function of numbers has an oracle, and a derivative that is compared with differences, or a reason why not."""
    texts = [row.text for rows in FAMILIES.values() for row in rows.values()] + list(DRAWS)
    named = {name for text in texts for name in re.findall(r"\b[a-z]+\.[a-z]\w*(?=\()", text)} | ELSEWHERE
    for module in NUMERIC:
        for name in re.findall(r"^fn ([a-z]\w*)\(", (ROOT / "library" / f"{module}.wick").read_text(), re.M):
            assert f"{module}.{name}" in named, f"{module}.{name} has no row in library_layers.py or library_values.py"
