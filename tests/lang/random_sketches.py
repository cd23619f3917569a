#!/usr/bin/env python3
"""Random programs of statements over types of their own, run, differentiated and batched, natively and by the slow evaluator.

  random_sketches.py --seed 1 --count 1000 --jobs 2     programs 1 to 1000; prints what differs or is refused
  random_sketches.py --seed 77 --shrink                 the smallest program that goes wrong as program 77 does
  random_sketches.py --seed 77 --show                   the program

random_terms.py makes deep expressions over fixed types. Here each program declares types (an enumeration, data without
floats, polymorphic data, structs with nested tensors) and functions over them
(mutual recursion with accumulators, counters that capture references), and its entry is a list of statements: loops that end
early, closures with references, and transformations within each other.
"""

import random
import sys

import random_programs
from random_terms import F, I, M, PARAMETERS, V, spell, tup

TWO = tup(F, I)


class Sketch:
    """Declarations (name, text), statements (name, type, text), and the entry's result."""

    def __init__(self, name, items, statements, result, value):
        self.name, self.items, self.statements, self.result, self.value = name, items, statements, result, value

    def __str__(self):
        heads = ", ".join(f"{n}: {spell(t)}" for n, t in PARAMETERS)
        body = "\n  ".join(f"let {n} = {text}" for n, _, text in self.statements)
        return "\n".join([*(t for _, t in self.items), f"fn {self.name}({heads}) -> {spell(self.result)} {{\n  {body}\n  {self.value}\n}}"])

    def smaller(self):
        for i in range(len(self.items)):
            yield Sketch(self.name, self.items[:i] + self.items[i + 1 :], self.statements, self.result, self.value)
        for i, (n, t, text) in enumerate(self.statements):
            rest = self.statements[:i], self.statements[i + 1 :]
            yield Sketch(self.name, self.items, [*rest[0], *rest[1]], self.result, self.value)
            if t in LEAST and text != LEAST[t]:
                yield Sketch(self.name, self.items, [*rest[0], (n, t, LEAST[t]), *rest[1]], self.result, self.value)
        if self.result in LEAST:
            for n, t, _ in self.statements:
                if t == self.result and n != self.value:
                    yield Sketch(self.name, self.items, self.statements, self.result, n)


LEAST = {F: "(a * 0.5)", I: "k", V: "v", M: "m", TWO: "(a, k)"}


class Sketches:
    def __init__(self, seed, name):
        self.r = random.Random(seed * 31 + 5)
        self.name, self.count = name, 0
        self.items, self.statements = [], []
        self.env = list(PARAMETERS)
        self.scalars = []  # functions f64 -> f64 of the file

    def pick(self, items):
        return self.r.choice(items)

    def chance(self, p):
        return self.r.random() < p

    def fresh(self, stem="x"):
        self.count += 1
        return f"{stem}{self.count}"

    # Expressions

    def number(self):
        return self.pick(["0.5f64", "1.5f64", "-0.25f64", "0.75f64", "1.0f64"])

    def f(self, names, d=2):
        """A float of the names: (name, type)."""
        if d == 0 or self.chance(0.2):
            found = []
            for n, t in names:
                found += {F: [n], V: [f"{n}[{self.r.randint(-3, 2)}]", f"sum({n})"], I: [f"f64({n})"], TWO: [f"{n}.0"],
                          M: [f"{n}[{self.r.randint(0, 1)}, {self.r.randint(0, 2)}]"]}.get(t, [])  # fmt: skip
            return self.pick(found) if found and self.chance(0.85) else self.number()
        x = lambda: self.f(names, d - 1)  # noqa: E731
        return self.pick([
            lambda: f"({x()} + {x()})", lambda: f"({x()} - {x()})", lambda: f"{x()} * {x()}", lambda: f"sin({x()})",
            lambda: f"tanh({x()})", lambda: f"{x()} / (1.5 + {self.square(x())})", lambda: f"exp(-{self.square(x())})",
            lambda: f"(if {x()} < {x()} {{ {x()} }} else {{ {x()} * 0.5 }})",
            lambda: f"{self.pick(self.scalars)}({x()})" if self.scalars else x(),
        ])()  # fmt: skip

    def square(self, x):
        return f"square({x})"

    def of(self, t, names, d=2):
        if t == F:
            return self.f(names, d)
        if t == I:
            found = [n for n, u in names if u == I]
            return self.pick([*found, str(self.r.randint(0, 3)), f"({self.pick(found or ['1'])} + 1)"])
        if t == V:
            found = [n for n, u in names if u == V]
            if found and self.chance(0.6):
                return f"({self.pick(found)} * {self.f(names, d - 1)})" if d else self.pick(found)
            return f"[{', '.join(self.f(names, max(d - 1, 0)) for _ in range(3))}]"
        if t == M:
            found = [n for n, u in names if u == M]
            return f"({self.pick(found)} + {self.f(names, 1)})" if found else f"[{self.of(V, names, 1)}, {self.of(V, names, 1)}]"
        if t == TWO:
            return f"({self.f(names, d)}, {self.of(I, names)})"
        raise AssertionError(t)

    def item(self, name, text):
        self.items.append((name, text))

    # Declarations

    def enumeration(self):
        e = f"{self.name.title()}E"
        names = [f"{e}{c}" for c in "abcde"[: self.r.randint(2, 5)]]
        self.item(e, f"type {e} {{ {', '.join(names)} }}")
        arms = lambda g: ", ".join(f"{c} => {g(i)}" for i, c in enumerate(names))  # noqa: E731
        few = lambda g: ", ".join([*(f"{c} => {g(i)}" for i, c in enumerate(names[:1])), f"_ => {g(9)}"])  # noqa: E731
        low = self.name
        self.item(f"{low}_next", f"fn {low}_next(e: {e}) -> {e} {{ match e {{ {arms(lambda i: names[(i + 1) % len(names)])} }} }}")
        self.item(f"{low}_rank", f"fn {low}_rank(e: {e}) -> i64 {{ match e {{ {(few if self.chance(0.3) else arms)(lambda i: str(i * i - 1))} }} }}")
        x = [("x", F)]
        self.item(f"{low}_weight", f"fn {low}_weight(e: {e}, x: f64) -> f64 {{ match e {{ {arms(lambda i: self.f(x, 2))} }} }}")
        self.item(f"{low}_of", f"fn {low}_of(n: i64) -> {e} {{ for i in 0..n with e = {self.pick(names)} {{ {low}_next(e) }} }}")
        self.enum, self.values = e, names

    def plain(self):
        """Data without floats."""
        d, e, low = f"{self.name.title()}D", self.enum, self.name
        self.item(d, f"type {d} {{ {d}n, {d}i(i64, {d}), {d}e({e}, bool, {d}), {d}t({d}, {d}) }}")
        self.item(f"{low}_make", f"fn {low}_make(n: i64, e: {e}) -> {d} {{ if n <= 0 {{ {d}n }} else if n % 3 == {self.r.randint(0, 2)} "
                  f"{{ {d}i(n * {self.r.randint(1, 4)}, {low}_make(n - 1, {low}_next(e))) }} else if n % 3 == {self.r.randint(0, 2)} "
                  f"{{ {d}t({low}_make(n - 2, e), {low}_make(n - 1, {low}_next(e))) }} else {{ {d}e(e, n % 2 == 0, {low}_make(n - 1, e)) }} }}")  # fmt: skip
        self.item(f"{low}_count", f"fn {low}_count(d: {d}, acc: i64) -> i64 {{ match d {{ {d}n => acc, {d}i(n, r) => {low}_count(r, acc + n), "
                  f"{d}e(e, b, r) => {low}_count(r, if b {{ acc * 2 }} else {{ acc - {low}_rank(e) }}), {d}t(l, r) => {low}_count(l, {low}_count(r, acc)) }} }}")  # fmt: skip
        names = [("x", F), ("n", I)]
        self.item(f"{low}_walk", f"fn {low}_walk(d: {d}, x: f64) -> f64 {{ match d {{ {d}n => x, {d}i(n, r) => {low}_walk(r, {self.f(names, 2)}), "
                  f"{d}e(e, true, r) => {low}_weight(e, {low}_walk(r, x)), {d}e(_, _, r) => {low}_walk(r, x * 0.5), "
                  f"{d}t(l, r) => {self.pick(['tanh', 'sin'])}({low}_walk(l, x)) * {low}_walk(r, x) }} }}")  # fmt: skip
        flip = f"{d}t(l, r) => {d}t({low}_flip(r), {low}_flip(l)), {d}i(n, r) => {d}i(-n, {low}_flip(r)), {d}e(e, b, r) => {d}e({low}_next(e), !b, {low}_flip(r)), {d}n => {d}n"
        self.item(f"{low}_flip", f"fn {low}_flip(d: {d}) -> {d} {{ match d {{ {flip} }} }}")

    def polymorphic(self):
        q, low = f"{self.name.title()}Q", self.name
        self.item(q, f"type {q}[a, b] {{ {q}a(a, i64), {q}b(b, {q}[a, b]), {q}c((b, i64), {q}[a, b]), {q}z }}")
        self.item(f"{low}_map", f"fn {low}_map(f: fn(a) -> c, g: fn(b) -> d, q: {q}[a, b]) -> {q}[c, d] {{ match q {{ {q}a(x, n) => {q}a(f(x), n + 1), "
                  f"{q}b(y, r) => {q}b(g(y), {low}_map(f, g, r)), {q}c((y, n), r) => {q}c((g(y), n * 2), {low}_map(f, g, r)), {q}z => {q}z }} }}")  # fmt: skip
        self.item(f"{low}_fold", f"fn {low}_fold(f: fn(s, a) -> s, g: fn(s, b) -> s, s: s, q: {q}[a, b]) -> s {{ match q {{ {q}a(x, _) => f(s, x), "
                  f"{q}b(y, r) => {low}_fold(f, g, g(s, y), r), {q}c((y, n), r) => {low}_fold(f, g, if n > 2 {{ g(s, y) }} else {{ s }}, r), {q}z => s }} }}")  # fmt: skip
        self.poly = q

    def struct(self):
        s, low = f"{self.name.title()}S", self.name
        self.item(s, f"struct {s} {{ p: f64[3], t: (f64[2, 3], f64), e: {self.enum}, n: i64 }}")
        names = [("s.p", V), ("s.t.0", M), ("s.t.1", F), ("s.n", I), ("x", F)]
        self.item(f"{low}_sum", f"fn {low}_sum(s: {s}, x: f64) -> f64 {{ {low}_weight(s.e, {self.f(names, 3)}) }}")
        change = self.pick([f".p = {self.of(V, names, 2)}", f".t = ({self.of(M, names)}, {self.f(names, 2)})", f".e = {low}_next(s.e)", ".n = s.n + 1"])
        more = self.pick(["", f" with .t = (s.t.0, {self.f(names, 2)})", f" with .p = {self.of(V, names, 2)}"])
        self.item(f"{low}_step", f"fn {low}_step(s: {s}, x: f64) -> {s} {{ s with {change}{more} }}")
        self.record = s

    def mutual(self):
        low = self.name
        t = self.pick([F, V, TWO, "S", "tree"])
        spelled = {"S": self.record, "tree": f"(f64, {self.record})"}.get(t) or spell(t)
        names = [("x", F), ("n", I)]
        inner = {"S": [("acc.t.1", F), ("acc.p", V)], "tree": [("acc.0", F), ("acc.1.p", V)]}.get(t, [("acc", t)])

        def grown():
            if t == "S":
                return f"{low}_step(acc, {self.f(names + inner, 2)})"
            if t == "tree":
                return f"({self.f(names + inner, 2)}, {low}_step(acc.1, {self.f(names + inner, 1)}))"
            return self.of(t, names + inner, 2)

        tail = self.chance(0.7)
        for me, other, less in ((f"{low}_ping", f"{low}_pong", 1), (f"{low}_pong", f"{low}_ping", self.r.randint(1, 2))):
            call = f"{other}(n - {less}, {grown()}, {self.f(names, 1)})"
            if not tail and t == F:
                call = f"0.5 * {call} + {self.f(names, 1)}"
            early = f"else if {self.f(names + inner, 1)} > 4.0 {{ acc }} " if self.chance(0.5) else ""
            self.item(me, f"fn {me}(n: i64, acc: {spelled}, x: f64) -> {spelled} {{ if n <= 0 {{ acc }} {early}else {{ {call} }} }}")
        self.mutual_type = t

    def closures(self):
        low = self.name
        names = [("x", F), ("read(r)", F), ("s", F)]
        self.item(f"{low}_counter", f"fn {low}_counter(s: f64) -> fn(f64) -> f64 {{ let r = ref(s); fn(x: f64) -> f64 {{ write(r, {self.f(names, 2)}); "
                  f"read(r) }} }}")  # fmt: skip
        self.item(f"{low}_scale", f"fn {low}_scale(x: f64) -> f64 {{ {self.f([('x', F)], 2)} }}")
        self.scalars.append(f"{low}_scale")

    # Statements

    def let(self, t, text, stem="x"):
        n = self.fresh(stem)
        self.statements.append((n, t, text))
        self.env.append((n, t))
        return n

    def made(self):
        """A struct."""
        return f"{self.record}(p = {self.of(V, self.env)}, t = (m, {self.f(self.env, 1)}), e = {self.name}_of({self.of(I, self.env)}), n = k)"

    def s_plain(self):
        low = self.name
        d = f"{low}_make({self.r.randint(2, 6)} + k, {self.pick(self.values)})"
        d = f"{low}_flip({d})" if self.chance(0.4) else d
        if self.chance(0.5):
            return self.let(F, f"{{ let d = {d}; {low}_walk(d, {self.f(self.env, 1)}) + f64({low}_count(d, 0)) * 0.01 }}")
        return self.let(I, f"{low}_count({d}, {self.of(I, self.env)})", "n")

    def s_poly(self):
        low, q = self.name, self.poly
        x, v = self.f(self.env, 1), self.of(V, self.env)
        items = [f"{q}b({v}, {q}a({x}, k))", f"{q}b({v}, {q}b({self.of(V, self.env)}, ({q}z : {q}[f64, f64[3]])))"]
        items.append(f"{q}c(({v}, k), {q}b({v}, {q}a({x}, 2)))")
        names = [("y", F), *self.env]
        f, g = f"fn(y: f64) {{ {self.f(names, 2)} }}", f"fn(w: f64[3]) {{ w * {self.f(self.env, 1)} }}"
        mapped = f"{low}_map({f}, {g}, {self.pick(items)})" if self.chance(0.7) else self.pick(items)
        return self.let(F, f"{low}_fold(fn(s: f64, y: f64) {{ s * 0.5 + y }}, fn(s: f64, w: f64[3]) {{ s + sum(w) }}, {self.number()}, {mapped})")

    def s_struct(self):
        low = self.name
        if self.chance(0.5):
            return self.let(F, f"{{ let s = {self.made()}; {low}_sum({low}_step(s, {self.f(self.env, 1)}), {self.f(self.env, 1)}) }}")
        names = [*self.env, ("s.t.1", F), ("s.p", V)]
        return self.let(V, f"(for i in 0..{self.r.randint(1, 4)} with s = {self.made()} {{ {low}_step(s, {self.f(names, 1)} + f64(i)) }}).p")

    def s_mutual(self):
        low, t = self.name, self.mutual_type
        start = {"S": self.made, "tree": lambda: f"({self.f(self.env, 1)}, {self.made()})"}.get(t, lambda: self.of(t, self.env, 1))()
        call = f"{low}_{self.pick(['ping', 'pong'])}({self.r.randint(1, 6)} + k, {start}, {self.f(self.env, 1)})"
        if t == "S":
            return self.let(F, f"{low}_sum({call}, 0.5)")
        if t == "tree":
            return self.let(F, f"{{ let q = {call}; q.0 + sum(q.1.p) }}")
        return self.let(t, call)

    def s_closure(self):
        low = self.name
        kind = self.r.randint(0, 3)
        x = lambda: self.f(self.env, 1)  # noqa: E731
        if kind == 0:
            return self.let(F, f"{{ let c = {low}_counter({x()}); let d = {low}_counter({x()}); c({x()}) + d(c({x()})) * c({x()}) }}")
        if kind == 1:
            return self.let(F, f"{{ let r = ref({x()}); let n = ref(0); let put = fn(y: f64) {{ write(r, {self.f([('read(r)', F), ('y', F), *self.env], 2)}); "
                            f"write(n, read(n) + 1) }}; for i in 0..{self.r.randint(1, 4)} {{ put({x()} + f64(i)) }}; put({x()}); read(r) + f64(read(n)) }}")  # fmt: skip
        if kind == 2:
            e = self.pick(self.values)
            return self.let(F, f"{{ let r = ref(({e}, {x()})); for i in 0..{self.r.randint(1, 5)} {{ let (e, y) = read(r); write(r, ({low}_next(e), {low}_weight(e, y))) }}; "
                            f"read(r).1 }}")  # fmt: skip
        fs = f"[{x()}, {x()}]"
        return self.let(F, f"{{ let w = {fs}; let compose = fn(f: fn(f64) -> f64, g: fn(f64) -> f64) {{ fn(y: f64) {{ f(g(y)) }} }}; "
                        f"let h = compose(fn(y: f64) {{ y * w[0] + {x()} }}, {low}_counter(w[1])); h(h({x()})) }}")  # fmt: skip

    def s_while(self):
        low = self.name
        names = [("y", F), ("i", I), *self.env]
        most = self.r.randint(2, 7)
        stop = self.pick([f"{self.f(names, 1)} < 3.0", "y < 2.5", f"i * i < {self.r.randint(1, 20)}"])
        kind = self.r.randint(0, 3)
        if kind == 0:
            text = f"{{ let (i, go, y) = while i < {most} && go with (i, go, y) = (0, true, {self.f(self.env, 1)}) {{ (i + 1, {stop}, {self.f(names, 2)}) }}; y + f64(i) }}"
        elif kind == 1:
            text = f"{{ let (i, e, y) = while i < {most} && {low}_rank(e) < 3 with (i, e, y) = (0, {self.pick(self.values)}, {self.f(self.env, 1)}) {{ (i + 1, {low}_next(e), {low}_weight(e, y)) }}; y * f64(i + 1) }}"
        elif kind == 2:
            text = (f"{{ let (i, s) = while i < {most} && {low}_sum(s, 0.5) < 4.0 with (i, s) = (0, {self.made()}) "
                    f"{{ (i + 1, {low}_step(s, {self.f(self.env, 1)})) }}; {low}_sum(s, {self.f(self.env, 1)}) }}")  # fmt: skip
        else:
            text = (f"(for j in 0..{self.r.randint(1, 3)} with y = {self.f(self.env, 1)} {{ (while i < {most} && y < 3.0 with (i, y) = (j, y) "
                    f"{{ (i + 1, {self.f(names, 2)}) }}).1 }})")  # fmt: skip
        return self.let(F, text)

    def s_transform(self):
        inner = lambda n, d=2: self.f([(n, F), (n, F), *self.env], d)  # noqa: E731
        x = self.f(self.env, 1)
        low = self.name
        choices = [
            (V, f"vmap(fn(x) {{ jvp(fn(y) {{ {inner('y')} }})(x, 1.0).1 }})(v)"),
            (F, f"grad(fn(x) {{ sum(vmap(fn(y) {{ y * {inner('x')} }})(v)) }})({x})"),
            (F, f"jvp(fn(x) {{ grad(fn(y) {{ y * {inner('y')} * x }})(x) }})({x}, 0.5).1"),
            (V, f"vmap(grad(fn(x) {{ jvp(fn(y) {{ {inner('y')} * x }})(x, x).0 }}))(v)"),
            (F, f"sum(vmap(fn(x) {{ {{ let c = {low}_counter(x); c({inner('x', 1)}) + c(0.5) }} }})(v))"),
            (F, f"grad(fn(x) {{ {low}_walk({low}_make(4, {self.pick(self.values)}), x) }})({x})"),
            (F, f"{{ let (y, back) = vjp(fn(x, w) {{ w * {inner('x')} }})({x}, v); sum(y) + back(v).0 }}"),
            (M, f"vmap(fn(row) {{ vmap(fn(x) {{ {inner('x')} }})(row) }})(m)"),
            (V, f"vmap(fn(e, x) {{ {low}_weight({low}_of(e), x) }})([0, 1, k], v)"),
            (F, f"grad(checkpoint(fn(x) {{ {inner('x', 3)} }}))({x})"),
            (F, f"grad(fn(x) {{ (while i < 4 && y < 3.0 with (i, y) = (0, x) {{ (i + 1, y * 1.25 + {inner('x', 1)}) }}).1 }})({x})"),
            (F, f"grad(fn(x) {{ {low}_sum({self.made()} with .p = v * x, x) }})({x})"),
        ]
        t, text = self.pick(choices)
        return self.let(t, text)

    def s_plainly(self):
        t = self.pick([F, F, V, M, I, TWO])
        return self.let(t, self.of(t, self.env, 3))

    def program(self):
        self.enumeration()
        self.plain()
        self.polymorphic()
        self.struct()
        self.closures()
        self.mutual()
        forms = [self.s_plain, self.s_poly, self.s_struct, self.s_mutual, self.s_closure, self.s_while, self.s_transform, self.s_transform, self.s_plainly]
        for _ in range(self.r.randint(3, 6)):
            self.pick(forms)()
        result = self.pick([F, F, V, tup(F, V), tup(F, I), tup(M, F)])
        uses = {F: "{}", V: "sum({})", M: "sum({})", I: "f64({})", TWO: "({0}.0 - f64({0}.1))"}
        whole = " + ".join(f"{self.number()} * {uses[t].format(n)}" for n, t, _ in self.statements)
        made = {F: f"sin({whole})", V: f"(v * ({whole}))", M: f"(m - ({whole}))", I: self.of(I, self.env)}
        value = f"({', '.join(made[t] for t in result[1:])})" if result[0] == "tuple" else made[result]
        return Sketch(self.name, self.items, self.statements, result, value)


def make(seed):
    return Sketches(seed, f"p{seed}").program()


if __name__ == "__main__":
    sys.exit(random_programs.main(make, __doc__))
