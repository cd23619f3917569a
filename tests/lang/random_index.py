#!/usr/bin/env python3
"""Random operators in index notation: native code, the evaluator, derivatives and vmap beside loops over all indices.

  random_index.py --seed 1 --count 500 --jobs 2     operators 1 to 500; prints what differs or is refused
  random_index.py --seed 77 --show                  the operator, its sizes and its inputs

The oracle evaluates an element for each combination of indices, with NumPy's scalars; derivatives are its central
differences. One operator in four is also made wrong, by an index that leaves its dimension: the message must name the
index, its range and the size.
"""

import argparse
import collections
import concurrent.futures
import itertools
import math
import os
import pathlib
import random
import re
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
FLOATS, INTS = ("f64", "f32"), ("i64", "i32", "i8")
NUMPY = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "i8": np.int8}
STEP = 1e-6  # of differences
MOST = 4000  # evaluations of an element and its parts, for one result


class Index:
    def __init__(self, name, size):
        self.name, self.size = name, size
        self.plain = self.other = 0  # places where it stands alone, or in a sum
        self.given = False


class Affine:
    """offset + the sum of factor * index."""

    def __init__(self, terms, offset):
        self.terms, self.offset = terms, offset

    def at(self, env):
        return self.offset + sum(c * env[i.name] for c, i in self.terms)

    def ends(self):
        lo = self.offset + sum(min(0, c * (i.size - 1)) for c, i in self.terms)
        return lo, self.offset + sum(max(0, c * (i.size - 1)) for c, i in self.terms)

    def plain(self):
        return len(self.terms) == 1 and self.terms[0][0] == 1 and self.offset == 0

    def __str__(self):
        parts = [(c, i.name if abs(c) == 1 else f"{abs(c)} * {i.name}") for c, i in self.terms]
        if self.offset or not parts:
            parts.append((self.offset, str(abs(self.offset))))
        head = parts[0][1] if parts[0][0] >= 0 else f"-{parts[0][1]}"
        return head + "".join(f" {'+' if c >= 0 else '-'} {t}" for c, t in parts[1:])


# Expressions: .elem, .text() and .value(env), which maps names of indices and tensors to values.

class Number:
    def __init__(self, elem, v):
        self.elem, self.v = elem, v

    def text(self):
        return f"({self.v}{self.elem})"

    def value(self, env):
        return NUMPY[self.elem](self.v)


class Counted:
    def __init__(self, elem, index):
        self.elem, self.index = elem, index

    def text(self):
        return f"{self.elem}({self.index.name})" if self.elem != "i64" else self.index.name

    def value(self, env):
        return NUMPY[self.elem](env[self.index.name])


class Cast:
    def __init__(self, elem, x):
        self.elem, self.x = elem, x

    def text(self):
        return f"{self.elem}({self.x.text()})"

    def value(self, env):
        return NUMPY[self.elem](self.x.value(env))


class Read:
    def __init__(self, elem, name, places):
        self.elem, self.name, self.places = elem, name, places

    def text(self):
        return f"{self.name}[{', '.join(p.text() if hasattr(p, 'text') else str(p) for p in self.places)}]"

    def value(self, env):
        at = tuple(int(p.value(env)) if hasattr(p, "value") else p.at(env) for p in self.places)
        x = env[self.name]
        assert all(0 <= a < n or (isinstance(p, Read) and -n <= a < n) for p, a, n in zip(self.places, at, x.shape))
        return x[at]


class Padded:
    """A read that is 0, or something else, outside of some bounds of one place."""

    def __init__(self, read, place, bound, strict, other):
        self.elem, self.read, self.place, self.bound, self.strict, self.other = read.elem, read, place, bound, strict, other

    def text(self):
        p = self.read.places[self.place]
        first, last = (f"{p} > -1", f"{self.bound} > {p}") if self.strict else (f"{p} >= 0", f"{p} < {self.bound}")
        return f"(if {first} && {last} {{ {self.read.text()} }} else {{ {self.other.text()} }})"

    def value(self, env):
        inside = 0 <= self.read.places[self.place].at(env) < self.bound
        return self.read.value(env) if inside else self.other.value(env)


class Choice:
    def __init__(self, op, a, b, x, y):
        self.elem, self.op, self.a, self.b, self.x, self.y = x.elem, op, a, b, x, y

    def text(self):
        return f"(if {self.a.text()} {self.op} {self.b.text()} {{ {self.x.text()} }} else {{ {self.y.text()} }})"

    def value(self, env):
        a, b = self.a.value(env), self.b.value(env)
        holds = a < b if self.op == "<" else a >= b
        return (self.x if holds else self.y).value(env)


class Apply:
    CALLS = {"exp": np.exp, "tanh": np.tanh, "sin": np.sin, "abs": np.abs, "square": np.square,
             "max": np.maximum, "min": np.minimum, "neg": np.negative}
    INFIX = {"+": np.add, "-": np.subtract, "*": np.multiply}

    def __init__(self, op, *x):
        self.elem, self.op, self.x = x[0].elem, op, x

    def text(self):
        if self.op in self.INFIX:
            return f"({f' {self.op} '.join(x.text() for x in self.x)})"
        return f"(-{self.x[0].text()})" if self.op == "neg" else f"{self.op}({', '.join(x.text() for x in self.x)})"

    def value(self, env):
        f = self.INFIX.get(self.op) or self.CALLS[self.op]
        return NUMPY[self.elem](f(*(x.value(env) for x in self.x)))


class Reduce:
    def __init__(self, op, indices, x):
        self.elem, self.op, self.indices, self.x = x.elem, op, indices, x

    def text(self):
        body = self.x.text()
        if isinstance(self.x, Apply) and self.x.op == "*":
            body = body[1:-1]
        return f"({self.op}({', '.join(map(declared, self.indices))}) {body})"

    def value(self, env):
        parts = []
        for at in itertools.product(*(range(i.size) for i in self.indices)):
            env.update(zip((i.name for i in self.indices), at))
            parts.append(self.x.value(env))
        with np.errstate(over="ignore"):
            f = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[self.op]
            return NUMPY[self.elem](f.reduce(np.array(parts), dtype=NUMPY[self.elem]))


def declared(i):
    return f"{i.name}: {i.size}" if i.given else i.name


class Operator:
    def __init__(self, seed):
        self.r, self.seed, self.tensors, self.defines = random.Random(seed), seed, {}, []
        self.count, self.name = itertools.count(), f"p{seed}"
        self.results, self.integers = {}, {}
        for k in range(self.r.choice([1, 1, 1, 2, 3])):
            self.define(k)

    def index(self):
        return Index("ijklmnqruvw"[next(self.count) % 11] + (str(n) if (n := next(self.count) // 22) else ""), self.r.randint(1, 4))

    def define(self, k):
        r, elem = self.r, self.r.choice(["f64"] * 6 + ["f32", "i64", "i32"])
        self.spent = 1
        out = [self.index() for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4]))]
        for i in out:
            self.spent *= i.size
        body = self.expr(elem, out, r.randint(1, 3))
        self.decide([*out], body)
        name = f"y{k}"
        self.defines.append((name, out, body))
        self.results[name] = (elem, tuple(i.size for i in out))

    def decide(self, out, body):
        """An index gets its size in the text where its range does not follow, and sometimes else."""
        seen = []

        def walk(x):
            if isinstance(x, Reduce):
                seen.extend(x.indices)
            for y in vars(x).values():
                for z in y if isinstance(y, (list, tuple)) else [y]:
                    if isinstance(z, (Number, Counted, Cast, Read, Padded, Choice, Apply, Reduce)):
                        walk(z)

        walk(body)
        for i in out + seen:
            i.given = i.given or not i.plain or self.r.random() < 0.2

    # ---- places ----

    def place(self, scope):
        r = self.r
        chosen = r.sample(scope, min(len(scope), r.choice([0, 1, 1, 1, 1, 1, 2, 2, 3])))
        if len(chosen) == 1 and r.random() < 0.6:
            return Affine([(1, chosen[0])], 0)
        terms = [(r.choice([1, 1, 1, 2, 3, -1, -2]), i) for i in chosen]
        lo = Affine(terms, 0).ends()[0]
        return Affine(terms, r.choice([0, 0, 1, 2]) - lo)

    def read(self, elem, scope, places=None):
        r, source = self.r, self.r.random()
        old = [(n, s) for n, (e, s) in self.results.items() if e == elem and s]
        if source < 0.15 and old and not places:
            name, shape = r.choice(old)
            fits = []
            for n in shape:
                choice = [i for i in scope if i.size == n]
                i = r.choice(choice) if choice else None
                if i:
                    i.plain += 1
                fits.append(Affine([(1, i)], 0) if i else Affine([], r.randrange(n)))
            return Read(elem, name, fits)
        places = places or [self.place(scope) for _ in range(r.choice([1, 1, 2, 2, 3]))]
        shape = []
        for p in places:
            slack = r.choice([0, 0, 1, 2])
            if p.plain():
                i = p.terms[0][1]
                slack = 0 if not i.given else slack
                i.plain += 1
                if slack:
                    i.plain -= 1
            shape.append(p.ends()[1] + 1 + slack)
        name = f"a{len(self.tensors)}"
        self.tensors[name] = (elem, tuple(shape), None)
        return Read(elem, name, places)

    def guarded(self, elem, scope):
        """A read of which one place may be outside."""
        r = self.r
        i = r.sample(scope, min(len(scope), r.choice([1, 2])))
        p = Affine([(r.choice([1, 1, 2, -1]), k) for k in i], 0)
        lo, hi = p.ends()
        p.offset = -lo - r.randint(0, 2)
        bound = max(1, p.ends()[1] + 1 - r.randint(0, 2))
        for k in i:
            k.given = True
        read = self.read(elem, scope, [self.place(scope), p] if r.random() < 0.5 else [p])
        place = len(read.places) - 1
        shape = list(self.tensors[read.name][1])
        shape[place] = bound
        self.tensors[read.name] = (elem, tuple(shape), None)
        zero = Number(elem, 0.0 if elem in FLOATS else 0)
        return Padded(read, place, bound, r.random() < 0.3, zero if r.random() < 0.7 else self.leaf(elem, scope))

    def chosen(self, elem, scope):
        """A read at an index that is data."""
        r = self.r
        ids = self.read(r.choice(["i64", "i32"]), scope)
        while ids.name.startswith("y"):
            ids = self.read("i32", scope, [self.place(scope)])
        n = r.randint(1, 4)
        e, shape, _ = self.tensors[ids.name]
        self.tensors[ids.name] = (e, shape, n)
        x = self.read(elem, scope, [self.place(scope) for _ in range(r.choice([1, 2]))])
        at = r.randrange(len(x.places))
        p = x.places[at]
        if p.plain():
            p.terms[0][1].given = True
        x.places[at] = ids
        shape = list(self.tensors[x.name][1])
        shape[at] = n
        self.tensors[x.name] = (elem, tuple(shape), None)
        return x

    # ---- expressions ----

    def leaf(self, elem, scope):
        r = self.r
        k = r.random()
        if k < 0.12:
            return Number(elem, r.choice([0.5, 2.0, -1.25]) if elem in FLOATS else r.choice([2, 3, 5]))
        if k < 0.18 and scope:
            return Counted(elem, r.choice(scope))
        if k < 0.26:
            other = r.choice([e for e in NUMPY if e != elem and (elem in FLOATS or e in INTS)])
            return Cast(elem, self.read(other, scope))
        if k < 0.36 and scope:
            return self.guarded(elem, scope)
        if k < 0.41:
            return self.chosen(elem, scope)
        return self.read(elem, scope)

    def reduce(self, elem, scope, depth):
        r = self.r
        over = [self.index() for _ in range(r.choice([1, 1, 2, 2, 3]))]
        room = MOST // max(self.spent, 1)
        while over and math.prod(i.size for i in over) > room:
            over.pop()
        if not over or len(scope) + len(over) > 7:
            return self.leaf(elem, scope)
        self.spent *= math.prod(i.size for i in over)
        inner = scope + over
        op = r.choice(["sum"] * 5 + ["max", "min", "prod"])
        if op == "sum" and r.random() < 0.75:
            x = self.leaf(elem, inner)
            for _ in range(r.choice([1, 1, 1, 2])):
                x = Apply("*", x, self.factor(elem, inner))
        else:
            x = self.expr(elem, inner, depth - 1)
        self.spent //= math.prod(i.size for i in over)
        return Reduce(op, over, x)

    def factor(self, elem, scope):
        return Apply("neg", self.leaf(elem, scope)) if self.r.random() < 0.1 else self.leaf(elem, scope)

    def expr(self, elem, scope, depth):
        r = self.r
        k = r.random()
        if depth <= 0:
            return self.leaf(elem, scope)
        if k < 0.45:
            return self.reduce(elem, scope, depth)
        if k < 0.7:
            return Apply(r.choice("+-*"), self.expr(elem, scope, depth - 1), self.expr(elem, scope, depth - 1))
        if k < 0.8:
            return Apply(r.choice(["max", "min"]), self.leaf(elem, scope), self.expr(elem, scope, depth - 1))
        if k < 0.88:
            return Choice(r.choice(["<", ">="]), self.leaf(elem, scope), self.leaf(elem, scope),
                          self.expr(elem, scope, depth - 1), self.leaf(elem, scope))
        if elem in FLOATS:
            return Apply(r.choice(["tanh", "sin", "abs", "square", "neg"]), self.expr(elem, scope, depth - 1))
        return Apply(r.choice(["square", "neg"]), self.expr(elem, scope, depth - 1))

    # ---- the program ----

    def inputs(self):
        rng = np.random.default_rng(self.seed)
        data = {}
        for name, (elem, shape, below) in self.tensors.items():
            if below:
                data[name] = rng.integers(-below, below, shape).astype(NUMPY[elem])
            elif elem in FLOATS:
                data[name] = (rng.standard_normal(shape) * 0.7).round(3).astype(NUMPY[elem])
            else:
                data[name] = rng.integers(-3, 4, shape).astype(NUMPY[elem])
        return data

    def parameters(self):
        return ", ".join(f"{n}: {e}[{', '.join(map(str, s))}]" for n, (e, s, _) in self.tensors.items())

    def text(self):
        lines = [f"  {n}[{', '.join(map(declared, out))}] = {body.text()}," for n, out, body in self.defines]
        return f"op {self.name}({self.parameters()}) {{\n" + "\n".join(lines) + "\n}\n"

    def oracle(self, data):
        env, results = dict(data), []
        for name, out, body in self.defines:
            y = np.zeros([i.size for i in out], NUMPY[body.elem])
            for at in itertools.product(*(range(i.size) for i in out)):
                env.update(zip((i.name for i in out), at))
                with np.errstate(all="ignore"):
                    y[at] = body.value(env)
            env[name] = y
            results.append(y)
        return results

    def weights(self):
        """Numbers that make one float of the results of type f64."""
        return {n: np.random.default_rng(self.seed + k).standard_normal([i.size for i in out]).round(3)
                for k, (n, out, b) in enumerate(self.defines) if b.elem == "f64"}

    def change(self, more, less):
        """How the weighted sum of the results differs: element by element, so that large ones do not hide small changes."""
        w = self.weights()
        with np.errstate(all="ignore"):
            return sum(float(np.sum((a - b) * w[n])) for a, b, (n, _, _) in zip(self.oracle(more), self.oracle(less), self.defines) if n in w)

    def noise(self, data):
        """What rounding of the largest result makes of differences."""
        w = self.weights()
        sizes = [np.max(np.abs(y * w[n]), initial=0) for y, (n, _, _) in zip(self.oracle(data), self.defines) if n in w]
        return 4 * np.finfo(np.float64).eps * max(sizes, default=0.0) / STEP

    def wrt(self):
        return [n for n, (e, s, _) in self.tensors.items() if e == "f64" and math.prod(s) <= 40][:3]


def literal(x, elem):
    shape = ", ".join(map(str, x.shape))
    return f"({x.tolist()!r} : {elem}[{shape}])" if x.ndim else f"({x.tolist()!r} : {elem})"


def run(*words, limit=120, **more):
    try:
        return subprocess.run([WICK, *map(str, words)], capture_output=True, text=True, timeout=limit, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", f"{words[0]}: takes more than {limit} s")


def variants(p, data):
    """Name, parameters, expression, inputs and expected results of each function that is compared."""
    names = list(p.tensors)
    types = {n: f"{e}[{', '.join(map(str, s))}]" for n, (e, s, _) in p.tensors.items()}
    call = f"{p.name}({', '.join(names)})"
    out = [("run", types, call, data, p.oracle(data))]
    r = random.Random(p.seed + 7)
    some = {n for n in names if r.random() < 0.6} or set(names[:1])
    if some:
        rows = {n: np.stack([x, x[..., ::-1] if x.ndim and p.tensors[n][2] is None else x]) if n in some else x for n, x in data.items()}
        second = {n: rows[n][1] if n in some else x for n, x in data.items()}
        axes = ", ".join("0" if n in some else "-1" for n in names)
        batched = {n: t.replace("[", "[2, ", 1).replace(", ]", "]") if n in some else t for n, t in types.items()}
        want = [np.stack(y) for y in zip(p.oracle(data), p.oracle(second))]
        out.append(("vmap", batched, f"vmap({p.name}, axes = ({axes},))({', '.join(names)})", rows, want))
    wrt, w = p.wrt(), p.weights()
    if not wrt or not w:
        return out
    loss = " + ".join(f"sum({'r' if len(p.defines) == 1 else f'r.{k}'} * {literal(w[n], 'f64')})"
                      for k, (n, _, _) in enumerate(p.defines) if n in w)
    heads = ", ".join(f"{n}: {types[n]}" for n in wrt)
    f = f"fn({heads}) -> f64 {{ let r = {call}; {loss} }}"
    want, along, slope = [], {}, 0.0
    rng = np.random.default_rng(p.seed + 99)
    for n in wrt:
        g = np.zeros_like(data[n])
        for at in np.ndindex(g.shape):
            ends = []
            for h in (STEP, -STEP):
                moved = {**data, n: data[n].copy()}
                moved[n][at] += h
                ends.append(moved)
            g[at] = p.change(*ends) / (2 * STEP)
        want.append(g)
        along[n] = rng.standard_normal(g.shape).round(3)
        slope += float(np.sum(g * along[n]))
    numbers = ", ".join(map(str, range(len(wrt))))
    each = ", ".join(wrt)
    out.append(("grad", types, f"grad({f}, wrt = ({numbers},))({each})", data, want))
    tangents = ", ".join(literal(along[n], "f64") for n in wrt)
    out.append(("jvp", types, f"jvp({f})({each}, {tangents}).1", data, [np.array(slope)]))
    return out


def differ(found, want, kind, noise=0.0):
    """Derivatives are compared with differences, which have that much noise."""
    loose = kind in ("grad", "jvp")
    if len(found) != len(want):
        return f"{len(found)} results instead of {len(want)}"
    for x, y in zip(found, want):
        if x.shape != y.shape:
            return f"shape {x.shape} instead of {y.shape}"
        scale = max(1.0, float(np.max(np.abs(y), initial=0)))
        bound = 1e-4 if loose or y.dtype == np.float32 else 1e-9
        if not np.allclose(x, y, rtol=bound, atol=bound * scale + (noise if loose else 0), equal_nan=True):
            return f"{np.array2string(x, threshold=20)} instead of {np.array2string(y, threshold=20)}"
    return None


def natively(folder, text, types, data):
    (folder / "p.wick").write_text(text)
    np.savez(folder / "in.npz", **data)
    for old in folder.glob("out/*"):
        old.unlink()
    r = run("run", "p.wick", "--inputs", "in.npz", "--outputs", "out", cwd=folder)
    if r.returncode:
        return None, (r.stderr or r.stdout).strip()[:600]
    found = {int(re.search(r"_(\d+)", f.name)[1]): np.load(f) for f in folder.glob("out/output_*.npy")}
    return [found[k] for k in sorted(found)], None


def evaluated(folder, text, call, types, data):
    """The value by the evaluator, as a flat list of numbers; the shapes are those of the expected results."""
    (folder / "e.wick").write_text(text)
    r = run("eval", "--file", "e.wick", call, cwd=folder)
    if r.returncode:
        return None, (r.stderr or r.stdout).strip()[:600]
    shown = r.stdout.rpartition(" : ")[0]
    value = eval(re.sub(r"\b(true|false)\b", lambda m: m[0].title(), shown), {"nan": math.nan, "inf": math.inf, "NaN": math.nan})  # noqa: S307
    return [np.array(x) for x in (value if isinstance(value, tuple) else (value,))], None


def broken(p, folder):
    """The operator with a place that leaves its dimension; returns what is wrong with the message, or None."""
    reads = []

    def walk(x):
        if isinstance(x, Read):
            reads.append(x)
        for y in vars(x).values():
            for z in y if isinstance(y, (list, tuple)) else [y]:
                if hasattr(z, "elem"):
                    walk(z) if not isinstance(x, Padded) else None

    for _, _, body in p.defines:
        walk(body)
    places = [(x, a) for x in reads if x.name in p.tensors for a in x.places if isinstance(a, Affine) and a.terms and all(i.given for _, i in a.terms)]
    if not places:
        return None
    read, place = random.Random(p.seed).choice(places)
    size = p.tensors[read.name][1][read.places.index(place)]
    old = place.offset
    place.offset += size - place.ends()[1]
    index = place.terms[0][1]
    (folder / "w.wick").write_text(p.text())
    r = run("check", "w.wick", cwd=folder)
    ends, place.offset = place.ends(), old
    if r.returncode != 1:
        return f"accepted {ends} of {size}"
    want = f"indices from {ends[0]} to {ends[1]} are outside of the size {size} ("
    if want not in r.stderr or f"`{index.name}` ranges over {index.size}" not in r.stderr:
        return f"the message does not say `{want}`: {r.stderr.strip()[:300]}"
    return None


def case(seed):
    """What goes wrong with an operator: a list of texts."""
    p, wrong = Operator(seed), []
    tally = collections.Counter(operators=1)
    data = p.inputs()
    noise = p.noise(data)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind, types, body, inputs, want in variants(p, data):
            heads = ", ".join(f"{n}: {t}" for n, t in types.items())
            text = p.text() + f"\nfn main({heads}) {{ {body} }}\n"
            found, why = natively(folder, text, types, inputs)
            bad = why or differ(found, want, kind, noise)
            tally[kind] += 1
            if bad:
                wrong.append(f"{seed} {kind}, natively: {bad}")
            if kind == "run" or (kind == "grad" and seed % 3 == 0):
                arguments = ", ".join(literal(x, p.tensors[n][0]) for n, x in inputs.items())
                found, why = evaluated(folder, text, f"main({arguments})", types, inputs)
                tally[f"{kind}, evaluated"] += 1
                bad = why or differ([x.reshape(y.shape) if x.size == y.size else x for x, y in zip(found, want)], want, kind, noise)
                if bad:
                    wrong.append(f"{seed} {kind}, evaluated: {bad}")
        if seed % 4 == 0:
            bad = broken(p, folder)
            tally["refused"] += 1
            if bad:
                wrong.append(f"{seed} refused: {bad}")
    return wrong, tally


def check(first, count, jobs=1):
    """Returns what goes wrong, and how many of each kind were compared."""
    wrong, tally = [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for bad, one in pool.map(case, range(first, first + count)):
            wrong += bad
            tally += one
    return wrong, tally


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    a = parser.parse_args()
    if a.show:
        p = Operator(a.seed)
        print(p.text())
        for kind, types, body, _, want in variants(p, p.inputs()):
            print(kind, ", ".join(f"{n}: {t}" for n, t in types.items()), body, want, sep="\n  ")
        return
    wrong, tally = check(a.seed, a.count, a.jobs)
    for w in wrong:
        print(w, flush=True)
    print(", ".join(f"{n} {k}" for k, n in tally.items()), f"; {len(wrong)} wrong", sep="")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
