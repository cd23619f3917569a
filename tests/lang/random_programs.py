#!/usr/bin/env python3
"""Random programs of the language: run, differentiated and batched, natively and by the slow evaluator.

  random_programs.py --seed 1 --count 1000 --jobs 2     programs 1 to 1000; prints what differs or is refused
  random_programs.py --seed 77 --shrink                 the smallest program that goes wrong as program 77 does
  random_programs.py --seed 77 --show                   the program

Programs of a batch are one file, which is compiled once; where it fails, its parts are tried alone. Derivatives by
numbers are also compared with differences of the program's own values, where these say the same for two widths.
"""

import argparse
import ast
import collections
import concurrent.futures
import functools
import hashlib
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from random_terms import F, HELPERS, I, M, PARAMETERS, PRELUDE, V, Generator, Program, spell  # noqa: E402, F401

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
NAMES = [n for n, _ in PARAMETERS]
ARGUMENTS = ", ".join(NAMES)
FLOATS = {F: "f64", V: "f64[3]", M: "f64[2, 3]"}
POINT = {"a": 0.3, "b": 0.7, "v": [0.1, -0.4, 0.8], "m": [[0.2, 0.5, -0.3], [0.9, -0.6, 0.4]], "k": 2}
ALONG = {"a": 0.8, "b": -0.5, "v": [0.3, 1.1, -0.7], "m": [[0.4, -0.9, 0.2], [0.6, 0.1, -1.2]]}
LIMIT = 60  # seconds of a processor that a process may take; on a busy machine they take longer
WAIT = 10  # times as long ends a process that waits


def numbers(t):
    """Whether a type is of floats alone, so that it has a scalar with all derivatives."""
    return t in FLOATS


def scalar(p):
    """An expression: a function of the parameters that gives one float."""
    heads = ", ".join(f"{n}: {spell(t)}" for n, t in PARAMETERS)
    x = f"{p.name}({ARGUMENTS})"
    weights = {F: "r", V: "(r @ [1.0, -0.5, 2.0])", M: "sum(r * [[1.0, -0.5, 2.0], [0.3, 0.7, -1.1]])"}

    def weigh(t, r):
        if t in weights:
            return weights[t].replace("r", r, 1) if t != M else f"sum({r} * [[1.0, -0.5, 2.0], [0.3, 0.7, -1.1]])"
        return f"f64({r})"

    if p.result[0] == "tuple":
        return f"fn({heads}) -> f64 {{ let r = {x}; " + " + ".join(weigh(t, f"r.{i}") for i, t in enumerate(p.result[1:])) + " }"
    return f"fn({heads}) -> f64 {{ {weigh(p.result, x)} }}"


def variants(p, seed):
    """Name and body of functions of the parameters: the program, its derivatives, and maps of them."""
    r = random.Random(seed * 7 + 1)
    s, name = f"{p.name}s", p.name
    tangents = "a * 0.5 + 1.0, b - 1.0, v * 2.0, m + 0.5, ()"
    rest = "b, v, m, k"
    own = [
        ("grad", f"grad({s}, wrt = (0, 1, 2, 3))({ARGUMENTS})"),
        ("value_and_grad", f"value_and_grad({s}, wrt = (2, 0))({ARGUMENTS})"),
        ("jvp", f"jvp({name})({ARGUMENTS}, {tangents})"),
        ("vjp", f"{{ let (y, back) = vjp({s})({ARGUMENTS}); let g = back(a + 2.0); (y, g.0, g.1, g.2, g.3) }}"),
        ("checkpoint", f"grad(checkpoint({s}), wrt = (0, 2))({ARGUMENTS})"),
        ("grad_grad", f"grad(fn(x: f64) -> f64 {{ let g = grad({s}, wrt = (0, 2))(x, {rest}); g.0 + g.1 @ [1.0, 2.0, -1.0] }})(a)"),
        ("jvp_grad", f"jvp(fn(x: f64, y: f64[3]) {{ grad({s}, wrt = (0, 2))(x, b, y, m, k) }})(a, v, 1.0, v)"),
        ("grad_jvp", f"grad(fn(x: f64, y: f64[3]) -> f64 {{ jvp(fn(z: f64) {{ {s}(z, b, y, m, k) }})(x, 1.0).1 }}, wrt = (0, 1))(a, v)"),
        ("third", f"grad(grad(grad(fn(x: f64) -> f64 {{ {s}(x, b, v * x, m, k) }})))(a)"),
        ("vmap", f"vmap(fn(x, y) {{ {name}(x, b, y, m, k) }})([a, b], [v, v * 0.5])"),
        ("vmap_k", f"vmap({name}, axes = (0, -1, 1, -1, 0))([a, 0.2, b], b, transpose([v, v * 0.5, v + 1.0], perm = (1, 0)), m, [0, 1, 2])"),
        ("vmap_grad", f"vmap(fn(x, y) {{ grad({s}, wrt = (0, 2))(x, b, y, m, k) }})([a, b], [v, v - 0.5])"),
        ("grad_vmap", f"grad(fn(x: f64[2], y: f64[3]) -> f64 {{ sum(vmap({s}, axes = (0, -1, -1, -1, -1))(x, b, y, m, k)) }}, wrt = (0, 1))([a, b], v)"),
        ("vmap_vmap", f"vmap(fn(x) {{ vmap(fn(y) {{ {name}(x, y, v, m, k) }})([b, 0.4, a]) }})([a, b])"),
        ("vmap_jvp", f"vmap(fn(t) {{ jvp(fn(x, y) {{ {name}(x, b, y, m, k) }})(a, v, t, v * t).1 }})([1.0, 0.5])"),
    ]
    return [("run", f"{name}({ARGUMENTS})"), *r.sample(own, 3)]


def shifted(h):
    """The arguments, h along ALONG, as text of an expression."""
    def add(x, u):
        return [add(p, q) for p, q in zip(x, u)] if isinstance(x, list) else x + h * u

    return ", ".join(repr(add(POINT[n], ALONG[n]) if n in ALONG else POINT[n]) for n in NAMES)


def heads():
    return ", ".join(f"{n}: {spell(t)}" for n, t in PARAMETERS)


def generated(seed):
    return Generator(seed, name=f"p{seed}").program()


class Case:
    """A program with variants of it, and what the evaluator says about them."""

    def __init__(self, seed, program, names=None):
        self.seed, self.program = seed, program
        p = program
        self.variants = [v for v in variants(p, seed) if names is None or v[0] in names]
        self.text = "\n".join([str(p), f"fn {p.name}s({heads()}) -> f64 {{ ({scalar(p)})({ARGUMENTS}) }}"])

    def entries(self):
        return [f"fn {self.program.name}_{n}({heads()}) {{ {body} }}" for n, body in self.variants]

    def with_names(self, names):
        return Case(self.seed, self.program, names)


def run(*words, limit=LIMIT, **more):
    command = ["sh", "-c", f'ulimit -t {limit}; exec "$0" "$@"', WICK, *map(str, words)]
    try:
        r = subprocess.run(command, capture_output=True, text=True, timeout=WAIT * limit, **more)
    except subprocess.TimeoutExpired:
        r = None
    if r is None or -r.returncode in (signal.SIGXCPU, signal.SIGKILL):
        return subprocess.CompletedProcess(words, 124, "", f"{words[0]}: takes more than {limit} s")
    return r


def flat(x):
    """The tensors of a result, in order."""
    return [t for item in x for t in flat(item)] if isinstance(x, tuple) else [np.array(x)]


def parsed(text):
    text = re.sub(r"\b(true|false)\b", lambda m: m[0].title(), text.rpartition(" : ")[0])
    return flat(eval(text, {"nan": math.nan, "inf": math.inf, "NaN": math.nan}))  # noqa: S307 (numbers, in brackets)


def evaluated(folder, file, call, limit=20):
    r = run("eval", "--file", file, call, cwd=folder, limit=limit)
    if r.returncode:
        return None, r
    said, _, result = r.stdout.rstrip("\n").rpartition("\n")
    r.said = said and said + "\n"
    return parsed(result), r


def differ(found, want, tolerance=1e-9):
    """What differs, as text, or None."""
    if len(found) != len(want):
        return f"{len(found)} results instead of {len(want)}"
    for x, y in zip(found, want):
        if x.shape != y.shape and not (x.size == 0 and y.size == 0):
            return f"shape {x.shape} instead of {y.shape}"
        if x.dtype.kind == "f" or y.dtype.kind == "f":
            scale = max(1.0, float(np.max(np.abs(y[np.isfinite(y)]), initial=0)))
            if not np.allclose(x, y, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
                return f"{x.tolist()} instead of {y.tolist()}"
        elif not np.array_equal(x, y):
            return f"{x.tolist()} instead of {y.tolist()}"
    return None


def save_inputs(folder):
    words = []
    for n, t in PARAMETERS:
        np.save(folder / f"{n}.npy", np.array(POINT[n], np.int64 if t == I else np.float64))
        words.append(f"{n}={n}.npy")
    return words


def printed(text):
    """Lines, without the digits of numbers, which may differ by rounding."""
    return re.sub(r"-?(\d[\d.]*(e[-+]?\d+)?|nan|inf)", "#", text)


def native(folder, cases, reference=False):
    """Runs the cases as one program; gives (outputs, None) or (None, message), and what it prints."""
    text = [PRELUDE]
    calls = []
    for c in cases:
        text += [c.text, *c.entries()]
        calls += [f"{c.program.name}_{n}({ARGUMENTS})" for n, _ in c.variants]
    text.append(f"fn main({heads()}) {{ ({', '.join(calls)},) }}")
    (folder / "all.wick").write_text("\n".join(text) + "\n")
    out = folder / "out"
    if out.exists():
        for f in out.iterdir():
            f.unlink()
    r = run("run", "all.wick", "--inputs", *save_inputs(folder), "--outputs", "out", "--no-cache",
            *(["--reference"] if reference else []), cwd=folder)  # fmt: skip
    if r.returncode:
        return None, f"status {r.returncode}: {message(r.stderr)}", ""
    return [np.load(out / f"output_{i}.npy") for i in range(len(list(out.iterdir())))], None, r.stdout


def message(text):
    """The first error, without names and numbers."""
    line = next((x for x in text.splitlines() if "error" in x or "wick" in x or ":" in x), text.strip()[:200])
    line = re.sub(r"^[^ ]*all\.wick:\d+:\d+: ", "", line)
    line = re.sub(r"\b[xpq]\d+\w*(\.\w+)*", "X", line)
    return re.sub(r"\d+", "N", line)[:220]


def wanted(folder, case, limit=20):
    """The evaluator's results of each variant; None where it fails or takes too long."""
    (folder / "one.wick").write_text("\n".join([PRELUDE, case.text, *case.entries()]) + "\n")
    at = shifted(0.0)
    return {n: evaluated(folder, "one.wick", f"{case.program.name}_{n}({at})", limit) for n, _ in case.variants}


def dot(x, u):
    return float(np.sum(np.array(x) * np.array(u)))


def slope_differs(folder, case):
    """Compares the evaluator's derivative with differences of its values; None if they agree or say nothing."""
    p = case.program
    if "stop_gradient" in case.text or "with_vjp" in case.text:
        return None
    calls = [f"{p.name}s({shifted(h)})" for h in (1e-3, -1e-3, 2e-3, -2e-3, 5e-4, -5e-4)]
    tangents = ", ".join(repr(ALONG[n]) if n in ALONG else "()" for n in NAMES)
    values, _ = evaluated(folder, "one.wick", f"({', '.join(calls)}, jvp({p.name}s)({shifted(0.0)}, {tangents}).1, "
                          f"grad({p.name}s, wrt = (0, 1, 2, 3))({shifted(0.0)}))")  # fmt: skip
    if values is None:
        return None
    f = [float(v) for v in values[:6]]
    wide = (8 * (f[0] - f[1]) - (f[2] - f[3])) / 12e-3
    narrow = (8 * (f[4] - f[5]) - (f[0] - f[1])) / 6e-3
    forward, reverse = float(values[6]), sum(dot(g, ALONG[n]) for g, n in zip(values[7:], ("a", "b", "v", "m")))
    scale = max(1.0, abs(narrow))
    if not all(map(math.isfinite, (wide, narrow))) or abs(wide - narrow) > 1e-8 * scale:
        return None
    if abs(forward - narrow) > 1e-6 * scale or abs(reverse - narrow) > 1e-6 * scale:
        return f"slopes {forward} and {reverse} instead of {narrow}"
    return None


def examine(folder, cases, slopes=True):
    """Yields (case, variant, kind, what) of what goes wrong."""
    want, sound = {}, []
    for c in cases:
        results = wanted(folder, c)
        for n, (values, r) in results.items():
            if values is None and r.returncode not in (0, 1, 124):
                yield c, n, "evaluator", message(r.stderr) or f"status {r.returncode}"
            elif values is None and r.returncode == 1 and not re.search("nested too deep|too deep", r.stderr):
                yield c, n, "evaluator", message(r.stderr)
        c = c.with_names([n for n, (values, _) in results.items() if values is not None])
        if c.variants:
            want[c.seed] = {n: v for n, (v, _) in results.items() if v is not None}
            want.update({(c.seed, n): r.said for n, (v, r) in results.items() if v is not None})
            sound.append(c)
            if slopes:
                wrong = slope_differs(folder, c)
                if wrong:
                    yield c, "run", "slope", wrong
    yield from compare(folder, sound, want)


def compare(folder, cases, want):
    if not cases:
        return
    found, error, said = native(folder, cases)
    if found is not None:
        expected = [x for c in cases for n, _ in c.variants for x in want[c.seed][n]]
        error = differ(found, expected)
        kind = "wrong"
        if error is None:
            lines = printed("".join(want[c.seed, n] for c in cases for n, _ in c.variants))
            if printed(said).startswith(lines):
                return
            kind, error = "printed", f"{said[:300]!r} instead of {lines[:300]!r}"
    else:
        kind = "hang" if error.startswith("status 124") else "refused" if error.startswith("status 1:") else "crash"
    if len(cases) > 1:
        half = len(cases) // 2
        yield from compare(folder, cases[:half], want)
        yield from compare(folder, cases[half:], want)
    elif len(cases[0].variants) > 1:
        for n, _ in cases[0].variants:
            yield from compare(folder, [cases[0].with_names([n])], want)
    else:
        yield cases[0], cases[0].variants[0][0], kind, error


def batch(seeds, make=generated):
    with tempfile.TemporaryDirectory(prefix="wick-programs-") as folder:
        return [(c.seed, n, kind, what) for c, n, kind, what in examine(pathlib.Path(folder), [Case(s, make(s)) for s in seeds])]


def alike(kind, what):
    """What has to stay while a program shrinks."""
    return (kind, "" if kind in ("wrong", "slope", "printed") else what)


def shrink(seed, name, kind, what, make=generated, steps=4000):
    case, goal = Case(seed, make(seed), [name]), alike(kind, what)
    tried = set()
    with tempfile.TemporaryDirectory(prefix="wick-programs-") as folder:
        def fails(c):
            return any(alike(k, w) == goal for _, _, k, w in examine(pathlib.Path(folder), [c], slopes=kind == "slope"))

        again = True
        while again and steps > 0:
            again = False
            for p in case.program.smaller():
                key = hashlib.sha1(str(p).encode()).digest()
                if key in tried or len(str(p)) >= len(str(case.program)):
                    continue
                tried.add(key)
                steps -= 1
                c = Case(seed, p, [name])
                if fails(c):
                    case, again = c, True
                    break
                if steps <= 0:
                    break
    return case


def main(make=generated, about=__doc__):
    """`make` gives a seed's program."""
    a = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--count", type=int, default=1)
    a.add_argument("--batch", type=int, default=12, help="programs of a file")
    a.add_argument("--jobs", type=int, default=1)
    a.add_argument("--shrink", action="store_true", help="shrinks the first program of each kind of failure")
    a.add_argument("--show", action="store_true", help="prints the program and its variants")
    args = a.parse_args()
    if args.show:
        c = Case(args.seed, make(args.seed))
        print("\n".join([PRELUDE, c.text, *c.entries()]))
        return 0
    seeds = list(range(args.seed, args.seed + args.count))
    batches = [seeds[i : i + args.batch] for i in range(0, len(seeds), args.batch)]
    kinds = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for found in pool.map(functools.partial(batch, make=make), batches):
            for seed, name, kind, what in found:
                key = alike(kind, what)
                if key not in kinds:
                    print(f"{kind}: program {seed}, {name}: {what}", flush=True)
                kinds[key].append((seed, name, what))
    for (kind, what), where in sorted(kinds.items(), key=lambda x: -len(x[1])):
        print(f"{len(where):5} {kind} {what}  ({', '.join(f'{s} {n}' for s, n, _ in where[:6])})")
        if args.shrink:
            seed, name, full = where[0]
            c = shrink(seed, name, kind, full, make)
            print("\n".join([c.text, *c.entries()]), flush=True)
    print(f"{len(seeds)} programs, {sum(map(len, kinds.values()))} findings")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
