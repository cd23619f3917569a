"""Random well-typed programs of the language, as trees that can be shrunk.

Types are tuples: ("t", element, shape), ("tuple", types...), ("fn", parameters, result), ("data", name, arguments...),
("ref", type). A Term has a type and pieces: text, and terms. A program is a few functions and an entry with PARAMETERS.
"""

import random

F, I, B, S = ("t", "f64", ()), ("t", "i64", ()), ("t", "bool", ()), ("t", "f32", ())
V, M, W = ("t", "f64", (3,)), ("t", "f64", (2, 3)), ("t", "f64", (2,))
TEXT = ("t", "string", ())
ENDO = ("fn", (F,), F)

# What every entry takes.
PARAMETERS = (("a", F), ("b", F), ("v", V), ("m", M), ("k", I))


def tup(*types):
    return ("tuple", *types)


def fn(parameters, result):
    return ("fn", tuple(parameters), result)


def data(name, *arguments):
    return ("data", name, *arguments)


def spell(t):
    kind = t[0]
    if kind == "t":
        return t[1] + (f"[{', '.join(map(str, t[2]))}]" if t[2] else "")
    if kind == "tuple":
        return "(" + ", ".join(map(spell, t[1:])) + ("," if len(t) == 2 else "") + ")"
    if kind == "fn":
        return f"fn({', '.join(map(spell, t[1]))}) -> {spell(t[2])}"
    if kind == "ref":
        return f"Ref[{spell(t[1])}]"
    return t[1] + (f"[{', '.join(map(spell, t[2:]))}]" if len(t) > 2 else "")


def replace(t, names):
    """The type t, with types for its variables."""
    if isinstance(t, str):
        return names.get(t, t)
    if t[0] == "t":
        return t
    return tuple(replace(p, names) if isinstance(p, tuple) or p in names else p for p in t)


def unify(pattern, t, names):
    """Whether t is the pattern with types for its variables, which are added to names."""
    if isinstance(pattern, str):
        if pattern in names:
            return names[pattern] == t
        if isinstance(t, str):
            return pattern == t
        names[pattern] = t
        return True
    if isinstance(t, str) or len(pattern) != len(t):
        return False
    if pattern[0] == "t" or t[0] == "t":
        return pattern == t
    return all((p == q) if isinstance(p, str) and p not in VARIABLES else unify(p, q, names) for p, q in zip(pattern, t))


VARIABLES = {"A", "B", "C"}

# name: parameters, constructors with the types of their fields
DATA = {
    "L": (("A",), {"Nil": (), "Cons": ("A", ("data", "L", "A"))}),
    "T": (("A",), {"Leaf": ("A",), "Node": (("data", "T", "A"), ("data", "T", "A"))}),
    "O": (("A",), {"None": (), "Some": ("A",)}),
    "Sh": ((), {"Circle": (F,), "Box": (V, F), "Poly": (data("L", F), I)}),
    "Fs": ((), {"Fun": (ENDO,), "Const": (F,), "Comp": (data("Fs"), data("Fs")), "Vec": (fn([V], V),)}),
    "E": ((), {"Num": (F,), "Var": (), "Add": (data("E"), data("E")), "Mul": (data("E"), data("E")), "Sin": (data("E"),)}),
    "R": (("A",), {"R": ("A", data("L", data("R", "A")))}),
    "Cell": (("A",), {"Cell": (("ref", "A"), I)}),
}

# Polymorphic functions that every file has: text, parameters, result.
HELPERS = {
    "map": ("fn map(f, l) { match l { Nil => Nil, Cons(x, r) => Cons(f(x), map(f, r)) } }",
            (fn(["A"], "B"), data("L", "A")), data("L", "B")),
    "fold": ("fn fold(f, s, l) { match l { Nil => s, Cons(x, r) => fold(f, f(s, x), r) } }",
             (fn(["B", "A"], "B"), "B", data("L", "A")), "B"),
    "foldr": ("fn foldr(f, s, l) { match l { Nil => s, Cons(x, r) => f(x, foldr(f, s, r)) } }",
              (fn(["A", "B"], "B"), "B", data("L", "A")), "B"),
    "append": ("fn append(a, b) { match a { Nil => b, Cons(x, r) => Cons(x, append(r, b)) } }",
               (data("L", "A"), data("L", "A")), data("L", "A")),
    "filter": ("fn filter(f, l) { match l { Nil => Nil, Cons(x, r) => { let s = filter(f, r); if f(x) { Cons(x, s) } else { s } } } }",
               (fn(["A"], B), data("L", "A")), data("L", "A")),
    "zip_with": ("fn zip_with(f, a, b) { match (a, b) { (Cons(x, r), Cons(y, s)) => Cons(f(x, y), zip_with(f, r, s)), _ => Nil } }",
                 (fn(["A", "B"], "C"), data("L", "A"), data("L", "B")), data("L", "C")),
    "reverse_onto": ("fn reverse_onto(l, t) { match l { Nil => t, Cons(x, r) => reverse_onto(r, Cons(x, t)) } }",
                     (data("L", "A"), data("L", "A")), data("L", "A")),
    "length": ("fn length(l) { match l { Nil => 0, Cons(_, r) => 1 + length(r) } }", (data("L", "A"),), I),
    "compose": ("fn compose(f, g) { fn(x) { f(g(x)) } }", (fn(["B"], "C"), fn(["A"], "B")), fn(["A"], "C")),
    "twice": ("fn twice(f) { fn(x) { f(f(x)) } }", (fn(["A"], "A"),), fn(["A"], "A")),
    "flip": ("fn flip(f) { fn(x, y) { f(y, x) } }", (fn(["A", "B"], "C"),), fn(["B", "A"], "C")),
    "curry": ("fn curry(f) { fn(x) { fn(y) { f(x, y) } } }", (fn(["A", "B"], "C"),), fn(["A"], fn(["B"], "C"))),
    "uncurry": ("fn uncurry(f) { fn(x, y) { f(x)(y) } }", (fn(["A"], fn(["B"], "C")),), fn(["A", "B"], "C")),
    "compose_all": ("fn compose_all(l) { match l { Nil => fn(x) { x }, Cons(f, r) => { let g = compose_all(r); fn(x) { g(f(x)) } } } }",
                    (data("L", fn(["A"], "A")),), fn(["A"], "A")),
    "apply_all": ("fn apply_all(l, x) { match l { Nil => x, Cons(f, r) => apply_all(r, f(x)) } }", (data("L", fn(["A"], "A")), "A"), "A"),
    "map_tree": ("fn map_tree(f, t) { match t { Leaf(x) => Leaf(f(x)), Node(l, r) => Node(map_tree(f, l), map_tree(f, r)) } }",
                 (fn(["A"], "B"), data("T", "A")), data("T", "B")),
    "fold_tree": ("fn fold_tree(f, g, t) { match t { Leaf(x) => f(x), Node(l, r) => g(fold_tree(f, g, l), fold_tree(f, g, r)) } }",
                  (fn(["A"], "B"), fn(["B", "B"], "B"), data("T", "A")), "B"),
    "or_else": ("fn or_else(o, d) { match o { None => d, Some(x) => x } }", (data("O", "A"), "A"), "A"),
    "map_some": ("fn map_some(f, o) { match o { None => None, Some(x) => Some(f(x)) } }", (fn(["A"], "B"), data("O", "A")), data("O", "B")),
    "first": ("fn first(l) { match l { Nil => None, Cons(x, _) => Some(x) } }", (data("L", "A"),), data("O", "A")),
    "run": ("fn run(f, x) { match f { Fun(g) => g(x), Const(c) => c, Comp(g, h) => run(g, run(h, x)), Vec(g) => sum(g([x, 1.0, 0.5])) } }",
            (data("Fs"), F), F),
    "value": ("fn value(e, x: f64) -> f64 { match e { Num(c) => c, Var => x, Add(a, b) => value(a, x) + value(b, x), "
              "Mul(a, b) => value(a, x) * value(b, x), Sin(a) => sin(value(a, x)) } }", (data("E"), F), F),
    "rose": ("fn rose(f, t) { match t { R(x, l) => f(x, foldr(fn(u, s) { rose(f, u) + s }, 0.0f64, l)) } }",
             (fn(["A", F], F), data("R", "A")), F),
    "modify": ("fn modify(r, f) { write(r, f(read(r))); read(r) }", (("ref", "A"), fn(["A"], "A")), "A"),
    "swap_cell": ("fn swap_cell(c, x) { match c { Cell(r, n) => { let old = read(r); if n > 0 { write(r, x) }; old } } }",
                  (data("Cell", "A"), "A"), "A"),
}  # fmt: skip
PRELUDE = "\n".join([
    "type L[a] { Nil, Cons(a, L[a]) }", "type T[a] { Leaf(a), Node(T[a], T[a]) }", "type O[a] { None, Some(a) }",
    "type Sh { Circle(f64), Box(f64[3], f64), Poly(L[f64], i64) }",
    "type Fs { Fun(fn(f64) -> f64), Const(f64), Comp(Fs, Fs), Vec(fn(f64[3]) -> f64[3]) }",
    "type E { Num(f64), Var, Add(E, E), Mul(E, E), Sin(E) }", "type R[a] { R(a, L[R[a]]) }", "type Cell[a] { Cell(Ref[a], i64) }",
    "struct P[a] { x: a, w: f64[3] }", *(text for text, _, _ in HELPERS.values())])  # fmt: skip


class Term:
    """A tree of text and terms. Its type is None if nothing may replace it."""

    __slots__ = ("type", "pieces")

    def __init__(self, type_, *pieces):
        self.type, self.pieces = type_, pieces

    def __str__(self):
        return "".join(map(str, self.pieces))

    def parts(self):
        return [p for p in self.pieces if isinstance(p, Term)]

    def size(self):
        return 1 + sum(p.size() for p in self.parts())


def listed(terms, ends="()"):
    """Pieces: the terms with commas, between two marks."""
    out = [ends[0]]
    for i, t in enumerate(terms):
        out += [", "] * (i > 0) + [t]
    return [*out, ends[1]]


def smallest(t, new=None):
    """The least text of a value of the type."""
    kind = t[0]
    if kind == "t":
        item = {"f64": "0.5f64", "f32": "0.5f32", "i64": "1", "bool": "true", "string": "\"a\""}[t[1]]
        for n in reversed(t[2]):
            item = "[" + ", ".join([item] * n) + "]"
        return item
    if kind == "tuple":
        return "(" + ", ".join(map(smallest, t[1:])) + ("," if len(t) == 2 else "") + ")"
    if kind == "fn":
        names = ", ".join(f"q{i}: {spell(p)}" for i, p in enumerate(t[1]))
        return f"(fn({names}) -> {spell(t[2])} {{ {smallest(t[2])} }})"
    if kind == "ref":
        return f"ref({smallest(t[1])})"
    if t[1] == "P":
        return f"P(x = {smallest(t[2])}, w = {smallest(V)})"
    parameters, constructors = DATA[t[1]]
    name, fields = next(iter(constructors.items()))
    names = dict(zip(parameters, t[2:]))
    inner = ", ".join(smallest(replace(f, names)) for f in fields)
    return f"({name}({inner}) : {spell(t)})" if fields else f"({name} : {spell(t)})"


def shrunk(term):
    """Smaller terms for one: its parts of the same type, the smallest value, and itself with a smaller part."""
    if term.type is not None:
        seen, stack = [], list(term.parts())
        while stack:
            p = stack.pop(0)
            if p.type == term.type:
                seen.append(p)
            stack += p.parts()
        yield from sorted(seen, key=Term.size)
        least = smallest(term.type)
        if len(least) < len(str(term)):
            yield Term(term.type, least)
    for i, p in enumerate(term.pieces):
        if isinstance(p, Term):
            for q in shrunk(p):
                yield Term(term.type, *term.pieces[:i], q, *term.pieces[i + 1 :])


class Program:
    """Functions, in order, and an entry."""

    def __init__(self, name, functions, entry, result):
        self.name, self.functions, self.entry, self.result = name, functions, entry, result

    def __str__(self):
        parameters = ", ".join(f"{n}: {spell(t)}" for n, t in PARAMETERS)
        return "\n".join([*map(str, self.functions), f"fn {self.name}({parameters}) -> {spell(self.result)} {{ {self.entry} }}"])

    def smaller(self):
        for i in range(len(self.functions)):
            yield Program(self.name, self.functions[:i] + self.functions[i + 1 :], self.entry, self.result)
        for e in shrunk(self.entry):
            yield Program(self.name, self.functions, e, self.result)
        for i, f in enumerate(self.functions):
            for g in shrunk(f):
                yield Program(self.name, [*self.functions[:i], g, *self.functions[i + 1 :]], self.entry, self.result)


class Generator:
    def __init__(self, seed, name="p", transformations=True):
        self.random = random.Random(seed)
        self.name = name
        self.transformations = transformations
        self.count = 0
        self.functions = []  # (name, parameters, result) that can be called from anywhere
        self.selves = []  # calls of the function that is being made: (text before its arguments, parameters, result), at most two

    def fresh(self):
        self.count += 1
        return f"x{self.count}"

    def pick(self, items):
        return self.random.choice(items)

    def chance(self, p):
        return self.random.random() < p

    # Types

    def simple(self):
        return self.pick([F, F, F, F, F, F, F, F, V, V, V, V, I, I, M, M, B, B, TEXT])

    def any_type(self, depth=2):
        r = self.random.random()
        if depth == 0 or r < 0.45:
            return self.simple()
        if r < 0.55:
            return tup(*(self.any_type(depth - 1) for _ in range(self.random.randint(2, 3))))
        if r < 0.75:
            return fn([self.any_type(depth - 1) for _ in range(self.random.randint(1, 2))], self.any_type(depth - 1))
        if r < 0.82:
            return ("ref", self.pick([F, F, V, I, tup(F, I)]))
        name = self.pick(["L", "L", "L", "T", "O", "Sh", "Fs", "E", "R", "Cell", "P"])
        if name in ("Sh", "Fs", "E"):
            return data(name)
        if name == "Cell":
            return data(name, self.pick([F, V, I]))
        return data(name, self.any_type(depth - 1))

    # Terms

    def term(self, t, env, d):
        """A random term of type t; env: names and types; d: how deep it may be."""
        if d <= 0:
            return self.leaf(t, env)
        if self.chance(0.45):
            return self.formed(t, env, d)
        return self.special(t, env, d)

    def leaf(self, t, env):
        names = [n for n, u in env if u == t]
        if names and self.chance(0.85):
            return Term(t, self.pick(names[-4:]))
        if t == F:
            return Term(F, self.pick(["0.5f64", "1.25f64", "-0.75f64", "2.0f64", "0.1f64"]))
        if t == I:
            return Term(I, str(self.random.randint(0, 3)))
        if t == B:
            return Term(B, self.pick(["true", "false"]))
        if t == TEXT:
            return Term(TEXT, self.pick(['""', '"a"', '"{}"', '"bc d"']))
        if t[0] == "t" and t[1] == "f64":
            return self.items(t, env, 0)
        if t[0] == "tuple":
            return Term(t, *listed([self.leaf(u, env) for u in t[1:]]))
        if t[0] == "fn":
            return self.function(t, env, 0)
        if t[0] == "ref":
            return Term(t, "ref(", self.leaf(t[1], env), ")")
        if t[0] == "data" and t[1] == "P":
            return Term(t, "P(x = ", self.leaf(t[2], env), ", w = ", self.leaf(V, env), ")")
        if t[0] == "data":
            return self.constructed(t, env, 0)
        return Term(t, smallest(t))

    def items(self, t, env, d):
        if len(t[2]) == 1:
            return Term(t, *listed([self.term(("t", t[1], ()), env, d - 1) for _ in range(t[2][0])], "[]"))
        return Term(t, *listed([self.term(("t", t[1], t[2][1:]), env, d - 1) for _ in range(t[2][0])], "[]"))

    def constructed(self, t, env, d):
        parameters, constructors = DATA[t[1]]
        names = dict(zip(parameters, t[2:]))
        plain = [c for c, f in constructors.items() if not any(isinstance(x, tuple) and x[:2] == t[:2] for x in f)]
        c = self.pick(list(constructors) if d > 0 else plain)
        fields = [replace(f, names) for f in constructors[c]]
        if not fields:
            return Term(t, f"({c} : {spell(t)})")
        return Term(t, f"({c}", *listed([self.term(f, env, d - 1) for f in fields]), f" : {spell(t)})")

    def function(self, t, env, d):
        names = [self.fresh() for _ in t[1]]
        body = self.term(t[2], env + list(zip(names, t[1])), d - 1)
        heads = ", ".join(f"{n}: {spell(p)}" for n, p in zip(names, t[1]))
        return Term(t, f"(fn({heads}) -> {spell(t[2])} {{ ", body, " })")

    def formed(self, t, env, d):
        """Forms that any type has."""
        r, d = self.random, d - 1
        forms = [self.bound, self.bound, self.branch, self.matched, self.loop, self.applied, self.helped, self.stored]
        if self.chance(0.12):
            return self.printed(t, env, d)
        uses = [(n, u) for n, u in env if (u[0] == "fn" and u[2] == t) or u == ("ref", t) or (u[0] == "tuple" and t in u[1:])
                or u == data("P", t) or (t == V and u[:2] == ("data", "P"))]  # fmt: skip
        if uses and self.chance(0.6):
            n, u = self.pick(uses)
            if u[0] == "fn":
                return Term(t, n, *listed([self.term(p, env, d) for p in u[1]]))
            if u[0] == "ref":
                return Term(t, f"read({n})")
            if u[0] == "tuple":
                return Term(t, f"{n}.{self.pick([i for i, p in enumerate(u[1:]) if p == t])}")
            return Term(t, n + (".x" if u == data("P", t) and (t != V or self.chance(0.5)) else ".w"))
        calls = [f for f in self.functions if f[2] == t]
        if self.selves and self.chance(0.5) and any(s[2] == t for s in self.selves):
            s = self.pick([s for s in self.selves if s[2] == t])
            self.selves.remove(s)
            return Term(t, s[0], *[p for u in s[1] for p in (", ", self.term(u, env, d))], ")")
        if calls and self.chance(0.5):
            return self.called(self.pick(calls), env, d)
        if r.random() < 0.3:
            names = [n for n, u in env if u == t]
            if names:
                return Term(t, self.pick(names))
        return self.pick(forms)(t, env, d)

    def called(self, f, env, d):
        name, parameters, result, counted = f
        first = [Term(I, f"{self.random.randint(0, 3)}") if self.chance(0.5) else Term(I, "(", self.term(I, env, min(d, 1)), " % 4)")] if counted else []
        return Term(result, name, *listed(first + [self.term(p, env, d) for p in parameters]))

    def bound(self, t, env, d):
        u = self.any_type()
        if u[0] == "tuple" and self.chance(0.5):
            names = [self.fresh() for _ in u[1:]]
            return Term(t, f"({{ let ({', '.join(names)}) = ", self.term(u, env, d), "; ",
                        self.term(t, env + list(zip(names, u[1:])), d), " })")  # fmt: skip
        n = self.fresh()
        return Term(t, f"({{ let {n} = ", self.term(u, env, d), "; ", self.term(t, env + [(n, u)], d), " })")

    def branch(self, t, env, d):
        return Term(t, "(if ", self.term(B, env, min(d, 2)), " { ", self.term(t, env, d), " } else { ", self.term(t, env, d), " })")

    def pattern(self, t, d):
        """A pattern, the names that it binds, and whether it matches all values."""
        if d > 0 and t[0] == "tuple":
            ps = [self.pattern(u, d - 1) for u in t[1:]]
            return "(" + ", ".join(p[0] for p in ps) + ")", [x for p in ps for x in p[1]], all(p[2] for p in ps)
        if d > 0 and t[0] == "data" and t[1] in DATA:
            parameters, constructors = DATA[t[1]]
            names = dict(zip(parameters, t[2:]))
            c = self.pick(list(constructors))
            ps = [self.pattern(replace(f, names), d - 1) for f in constructors[c]]
            text = c + ("(" + ", ".join(p[0] for p in ps) + ")" if ps else "")
            return text, [x for p in ps for x in p[1]], len(constructors) == 1 and all(p[2] for p in ps)
        if t == I and self.chance(0.3):
            return str(self.random.randint(0, 2)), [], False
        if self.chance(0.2):
            return "_", [], True
        n = self.fresh()
        return n, [(n, t)], True

    def matched(self, t, env, d):
        inner = [u for _, u in env if u[0] == "data" and u[1] != "P"]
        u = self.pick(inner) if inner and self.chance(0.6) else self.pick(
            [data("O", F), data("L", F), data("T", V), data("Sh"), data("Fs"), data("L", ENDO), data("E"), tup(I, data("O", V)), I, data("Cell", F)])  # fmt: skip
        out, nested = ["(match ", self.term(u, env, d), " { "], self.chance(0.4)
        if u[0] == "data" and not nested:
            parameters, constructors = DATA[u[1]]
            names = dict(zip(parameters, u[2:]))
            for c, fields in constructors.items():
                bound = [(self.fresh(), replace(f, names)) for f in fields]
                head = c + (f"({', '.join(n for n, _ in bound)})" if bound else "")
                out += [f"{head} => ", self.term(t, env + bound, d), ", "]
            return Term(t, *out[:-1], " })")
        text, bound, total = self.pattern(u, 3)
        while total and u[0] != "t" and not (u[0] == "data" and len(DATA[u[1]][1]) == 1):
            text, bound, total = self.pattern(u, 3)
        if total:
            return Term(t, *out, f"{text} => ", self.term(t, env + bound, d), " })")
        other = self.fresh()
        return Term(t, *out, f"{text} => ", self.term(t, env + bound, d), f", {other} => ", self.term(t, env + [(other, u)], d), " })")

    def loop(self, t, env, d):
        n = self.fresh()
        r = self.random.random()
        if r < 0.45:
            i = self.fresh()
            stop = Term(I, str(self.random.randint(0, 3))) if self.chance(0.7) else Term(I, "(", self.term(I, env, 1), " % 4)")
            return Term(t, f"(for {i} in 0..", stop, f" with {n} = ", self.term(t, env, d), " { ",
                        self.term(t, env + [(n, t), (i, I)], d), " })")  # fmt: skip
        if r < 0.75:
            u, c = self.any_type(1), self.fresh()
            e = env + [(n, t), (c, u)]
            i = self.fresh()
            return Term(t, f"(for {i} in 0..{self.random.randint(1, 3)} with ({n}, {c}) = (", self.term(t, env, d), ", ",
                        self.term(u, env, d), ") { (", self.term(t, e, d), ", ", self.term(u, e, d), ") }).0")  # fmt: skip
        c = self.fresh()
        return Term(t, f"(while {c} < {self.random.randint(1, 3)} with ({c}, {n}) = (0, ", self.term(t, env, d),
                    f") {{ ({c} + 1, ", self.term(t, env + [(n, t), (c, I)], d), ") }).1")  # fmt: skip

    def applied(self, t, env, d):
        """A function that is made here, applied here."""
        parameters = [self.any_type() for _ in range(self.random.randint(1, 2))]
        return Term(t, self.term(fn(parameters, t), env, d), *listed([self.term(p, env, d) for p in parameters]))

    def helped(self, t, env, d):
        fits = []
        for name, (_, parameters, result) in HELPERS.items():
            names = {}
            if unify(result, t, names):
                fits.append((name, parameters, names))
        if not fits:
            return self.bound(t, env, d)
        name, parameters, names = self.pick(fits)
        for variable in sorted(VARIABLES):
            names.setdefault(variable, self.any_type(1))
        return Term(t, name, *listed([self.term(replace(p, names), env, d) for p in parameters]))

    def stored(self, t, env, d):
        """References: a new one, or one of the environment that is written."""
        refs = [(n, u) for n, u in env if u[0] == "ref"]
        if refs and self.chance(0.7):
            n, u = self.pick(refs)
            if self.chance(0.25):
                i = self.fresh()
                return Term(t, f"({{ for {i} in 0..{self.random.randint(1, 3)} {{ write({n}, ", self.term(u[1], env + [(i, I)], d), ") }; ", self.term(t, env, d), " })")
            if self.chance(0.25):
                return Term(t, "({ if ", self.term(B, env, 1), f" {{ write({n}, ", self.term(u[1], env, d), ") }; ", self.term(t, env, d), " })")
            return Term(t, f"({{ write({n}, ", self.term(u[1], env, d), "); ", self.term(t, env, d), " })")
        n = self.fresh()
        if self.chance(0.4):
            return Term(t, f"({{ let {n} = ref(", self.term(t, env, d), f"); write({n}, ", self.term(t, env + [(n, ("ref", t))], d), f"); read({n}) }})")
        u = self.pick([F, V, I, tup(F, I), ENDO, data("L", F)])
        return Term(t, f"({{ let {n} = ref(", self.term(u, env, d), "); ", self.term(t, env + [(n, ("ref", u))], d), " })")

    def printed(self, t, env, d):
        shown = self.pick([F, I, TEXT, V, data("L", F), data("L", tup(I, TEXT)), self.any_type()])
        said = [p for u in (TEXT, shown)[self.random.randint(0, 1) :] for p in (", ", self.term(u, env, 1))][1:]
        return Term(t, "({ print(", *said, "); ", self.term(t, env, d), " })")

    # Terms of particular types

    def special(self, t, env, d):
        if t[0] == "tuple":
            return Term(t, *listed([self.term(u, env, d - 1) for u in t[1:]]))
        if t[0] == "fn":
            return self.function_value(t, env, d)
        if t[0] == "ref":
            return Term(t, "ref(", self.term(t[1], env, d - 1), ")")
        if t[0] == "data":
            if t[1] == "P":
                if self.chance(0.2):
                    return Term(t, "(", self.term(t, env, d - 1), " with .w = ", self.term(V, env, d - 1), ")")
                return Term(t, "P(x = ", self.term(t[2], env, d - 1), ", w = ", self.term(V, env, d - 1), ")")
            return self.constructed(t, env, d)
        return {F: self.number, V: self.vector, M: self.matrix, I: self.integer, B: self.truth, TEXT: self.text}.get(t, self.other)(env, d, t)

    def other(self, env, d, t):
        return self.items(t, env, d) if t[2] else Term(t, smallest(t))

    def function_value(self, t, env, d):
        names = [f[0] for f in self.functions if fn(f[1], f[2]) == t and not f[3]]
        if names and self.chance(0.3):
            return Term(t, self.pick(names))
        if self.chance(0.1):
            u = self.simple()
            return Term(t, "specialize(", self.term(fn((u, *t[1]), t[2]), env, d - 1), ", ", self.term(u, env, d - 1), ")")
        if self.transformations and self.chance(0.25):
            if t == ENDO:
                if self.chance(0.3):
                    x = self.fresh()
                    return Term(t, f"(fn({x}: f64) -> f64 {{ jvp(", self.term(t, env, d - 1), f")({x}, 1.0).1 }})")
                return Term(t, self.pick(["grad(", "checkpoint("]), self.term(t, env, d - 1), ")")
            if t == fn([V], V):
                if self.chance(0.5):
                    return Term(t, "vmap(", self.term(ENDO, env, d - 1), ")")
                return Term(t, "grad(", self.term(fn([V], F), env, d - 1), ")")
        return self.function(t, env, d)

    def derived(self, t, env, d):
        """A derivative, or a map, as a number or a vector."""
        one, many = self.term, d - 1
        if t == F:
            r = self.random.randint(0, 6)
            if r == 6:
                x, c = self.fresh(), self.fresh()
                back = one(F, [*env, (x, F), (c, F)], many)
                return Term(F, "with_vjp(", one(ENDO, env, many), f", fn({x}: f64, {c}: f64) -> f64 {{ {c} * ", back, " })(", one(F, env, many), ")")
            if r <= 1:
                return Term(F, "grad(", one(ENDO, env, many), ")(", one(F, env, many), ")")
            if r == 2:
                return Term(F, "jvp(", one(ENDO, env, many), ")(", one(F, env, many), ", ", one(F, env, many), ").", self.pick("01"))
            if r == 3:
                return Term(F, "vjp(", one(ENDO, env, many), ")(", one(F, env, many), ").1(", one(F, env, many), ")")
            if r == 4:
                u = self.any_type(1)
                return Term(F, "grad(", one(fn([F, u], F), env, many), ")(", one(F, env, many), ", ", one(u, env, many), ")")
            return Term(F, "sum(vmap(", one(ENDO, env, many), ")(", one(V, env, many), "))")
        r = self.random.randint(0, 4)
        if r == 0:
            return Term(V, "grad(", one(fn([V], F), env, many), ")(", one(V, env, many), ")")
        if r == 1:
            return Term(V, "vmap(", one(ENDO, env, many), ")(", one(V, env, many), ")")
        if r == 2:
            return Term(V, "vjp(", one(fn([V], V), env, many), ")(", one(V, env, many), ").1(", one(V, env, many), ")")
        if r == 3:
            return Term(V, "jvp(", one(fn([V], V), env, many), ")(", one(V, env, many), ", ", one(V, env, many), ").1")
        return Term(V, "vmap(", one(fn([F, F], F), env, many), f", axes = ({self.pick(['0, -1)', '0, -1)'])})(", one(V, env, many), ", ", one(F, env, many), ")")

    def number(self, env, d, t=F):
        if self.transformations and self.chance(0.15):
            return self.derived(F, env, d)
        x, y = (lambda: self.term(F, env, d - 1)), (lambda: self.term(V, env, d - 1))
        r = self.random.randint(0, 19)
        if r <= 4:
            return Term(F, "(", x(), self.pick([" + ", " - ", " * "]), x(), ")")
        if r <= 8:
            return Term(F, self.pick(["sin", "cos", "tanh", "sigmoid", "atan"]), "(", x(), ")")
        if r == 9:
            return Term(F, "(", x(), " / (1.5 + square(", x(), ")))")
        if r == 10:
            return Term(F, self.pick(["sum", "mean"]), "(", y(), ")")
        if r == 11:
            return Term(F, y(), "[", self.index(env, d, 3), "]")
        if r == 12:
            return Term(F, "(", y(), " @ ", y(), ")")
        if r == 13:
            return Term(F, "f64(", self.term(I, env, d - 1), ")")
        if r == 14:
            return Term(F, self.pick(["sqrt(1.0 + square(", "log(1.25 + square(", "exp(-square("]), x(), "))")
        if r == 15:
            return Term(F, self.pick(["max", "min"]), "(", x(), ", ", x(), ")")
        if r == 16:
            return Term(F, self.term(M, env, d - 1), "[", self.index(env, d, 2), ", ", self.index(env, d, 3), "]")
        if r == 17:
            return Term(F, self.pick(["relu", "abs", "stop_gradient", "square"]), "(", x(), ")")
        if r == 18:
            return Term(F, "sum(", self.term(M, env, d - 1), ")")
        return Term(F, "tanh(", x(), ")")

    def index(self, env, d, n):
        if self.chance(0.5):
            return Term(I, str(self.random.randint(-n, n - 1)))
        return Term(None, "(", self.term(I, env, min(d - 1, 1)), f" % {n})")

    def vector(self, env, d, t=V):
        if self.transformations and self.chance(0.15):
            return self.derived(V, env, d)
        x, y, m = (lambda: self.term(F, env, d - 1)), (lambda: self.term(V, env, d - 1)), (lambda: self.term(M, env, d - 1))
        r = self.random.randint(0, 15)
        if r <= 2:
            return self.items(V, env, d)
        if r <= 4:
            return Term(V, "(", y(), self.pick([" + ", " - ", " * "]), y(), ")")
        if r == 5:
            return Term(V, "(", x(), self.pick([" + ", " * "]), y(), ")")
        if r == 6:
            return Term(V, self.pick(["sin", "tanh", "cos"]), "(", y(), ")")
        if r == 7:
            return Term(V, "(", y(), " with [", self.index(env, d, 3), "] = ", x(), ")")
        if r == 8:
            return Term(V, m(), "[", self.index(env, d, 2), "]")
        if r == 9:
            return Term(V, "sum(", m(), ", axes = (0,))")
        if r == 10:
            return Term(V, "softmax(", y(), ", axis = 0)")
        if r == 11:
            return Term(V, y(), "[[", self.index(env, d, 3), ", 0, ", self.index(env, d, 3), "]]")
        if r == 12:
            return Term(V, "([", x(), ", ", x(), "] @ ", m(), ")")
        if r == 13:
            return Term(V, "concat(", y(), "[1:], [", x(), "])")
        if r == 14:
            return Term(V, "where(", y(), " > ", x(), ", ", y(), ", ", y(), ")")
        return Term(V, self.pick(["tanh(", "relu(", "square("]), y(), ")")

    def matrix(self, env, d, t=M):
        y, m = (lambda: self.term(V, env, d - 1)), (lambda: self.term(M, env, d - 1))
        r = self.random.randint(0, 8)
        if r == 7:
            return Term(M, "vmap(", self.term(fn([W], W), env, d - 1), ", axes = (1,), out = 1)(", m(), ")")
        if r == 8:
            return Term(M, "vmap(", self.term(fn([F, V], V), env, d - 1), ", axes = (0, -1))(", self.term(W, env, d - 1), ", ", y(), ")")
        if r == 0:
            return Term(M, "[", y(), ", ", y(), "]")
        if r == 1:
            return Term(M, "(", m(), self.pick([" + ", " * "]), self.term(self.pick([F, V, M]), env, d - 1), ")")
        if r == 2:
            return Term(M, "tanh(", m(), ")")
        if r == 3:
            return Term(M, "(", m(), " with [", self.index(env, d, 2), "] = ", y(), ")")
        if r == 4:
            return Term(M, "(", m(), " @ [", y(), ", ", y(), ", ", y(), "])")
        if r == 5:
            return Term(M, "softmax(", m(), f", axis = {self.pick('01')})")
        return Term(M, "vmap(", self.term(fn([V], V), env, d - 1), ")(", m(), ")")

    def integer(self, env, d, t=I):
        x = lambda: self.term(I, env, d - 1)  # noqa: E731
        r = self.random.randint(0, 9)
        if r == 9:
            return Term(I, "string_length(", self.term(TEXT, env, d - 1), ")")
        if r <= 3:
            return Term(I, "((", x(), self.pick([" + ", " - ", " * "]), x(), ") % 7)")
        if r == 4:
            return Term(I, "(", x(), self.pick([" / ", " % "]), f"{self.random.randint(1, 3)})")
        if r == 5:
            return Term(I, "[", x(), ", ", x(), ", 2][", self.index(env, d, 3), "]")
        if r == 6:
            return Term(I, "(if ", self.term(B, env, d - 1), " { 1 } else { ", x(), " })")
        if r == 7:
            return Term(I, "argmax(", self.term(V, env, d - 1), ")[0]")
        return Term(I, str(self.random.randint(0, 3)))

    def text(self, env, d, t=TEXT):
        x = lambda: self.term(TEXT, env, d - 1)  # noqa: E731
        r = self.random.randint(0, 3)
        if r == 0:
            return Term(TEXT, "string_concat(", x(), ", ", x(), ")")
        if r == 1:
            return Term(TEXT, "(if ", self.term(B, env, d - 1), " { ", x(), " } else { ", x(), " })")
        if r == 2:
            return Term(TEXT, "(match ", x(), ' { "" => "none", "a" => ', x(), ", _ => ", x(), " })")
        return Term(TEXT, "(format_number(", self.term(I, env, d - 1), ") : string)")

    def truth(self, env, d, t=B):
        r = self.random.randint(0, 6)
        if r == 6:
            return Term(B, "(", self.term(TEXT, env, d - 1), self.pick([" == ", " != "]), self.term(TEXT, env, d - 1), ")")
        if r <= 1:
            return Term(B, "(", self.term(F, env, d - 1), self.pick([" < ", " > "]), self.term(F, env, d - 1), ")")
        if r == 2:
            return Term(B, "(", self.term(I, env, d - 1), self.pick([" < ", " == ", " >= "]), self.term(I, env, d - 1), ")")
        if r == 3:
            return Term(B, "(", self.term(B, env, d - 1), self.pick([" && ", " || "]), self.term(B, env, d - 1), ")")
        if r == 4:
            return Term(B, "(!", self.term(B, env, d - 1), ")")
        return Term(B, "(sum(", self.term(V, env, d - 1), ") > 0.0)")

    # Functions with a name

    def plain(self, name, d):
        parameters, result = [self.any_type() for _ in range(self.random.randint(1, 3))], self.any_type()
        names = [self.fresh() for _ in parameters]
        heads = ", ".join(f"{n}: {spell(p)}" for n, p in zip(names, parameters))
        body = self.term(result, list(zip(names, parameters)), d)
        self.functions.append((name, parameters, result, False))
        return [Term(None, f"fn {name}({heads}) -> {spell(result)} {{ ", body, " }")]

    def counted(self, name, d):
        """A recursion, or two that call each other, ended by a counter."""
        group = [name] if self.chance(0.7) else [name, name + "b"]
        parameters, result = [self.any_type() for _ in range(self.random.randint(1, 2))], self.any_type()
        out = []
        for i, own in enumerate(group):
            other = group[(i + 1) % len(group)]
            n, names = self.fresh(), [self.fresh() for _ in parameters]
            heads = ", ".join(f"{x}: {spell(p)}" for x, p in zip(names, parameters))
            env = list(zip(names, parameters))
            end = self.term(result, env, d - 2)
            call = (f"{other}({n} - 1", parameters, result)
            kept, self.transformations = self.transformations, self.transformations and self.chance(0.3)
            n2 = self.fresh()
            before = Term(result, call[0], *[p for u in parameters for p in (", ", self.term(u, env, 1))], ")")
            self.selves = [call] * self.random.randint(0, 1)
            step = Term(result, f"{{ let {n2} = ", before, "; ", self.term(result, env + [(n, I), (n2, result)], d), " }")
            self.selves, self.transformations = [], kept
            out.append(Term(None, f"fn {own}({n}: i64, {heads}) -> {spell(result)} {{ if {n} <= 0 {{ ", end, " } else { ", step, " } }"))
        self.functions.append((name, parameters, result, True))
        return out

    def structural(self, name, d):
        """A recursion over a list, a tree or an expression."""
        t = self.pick([data("L", self.any_type(1)), data("T", self.any_type(1)), data("E"), data("Fs")])
        extra, result = [self.any_type() for _ in range(self.random.randint(0, 1))], self.any_type()
        s, names = self.fresh(), [self.fresh() for _ in extra]
        heads = "".join(f", {n}: {spell(p)}" for n, p in zip(names, extra))
        parameters, constructors = DATA[t[1]]
        arms = []
        for c, fields in constructors.items():
            fields = [replace(f, dict(zip(parameters, t[2:]))) for f in fields]
            bound = [(self.fresh(), f) for f in fields]
            env = list(zip(names, extra)) + bound
            lets = []
            kept, self.transformations = self.transformations, self.transformations and self.chance(0.3)
            for n, f in bound:
                if f == t:
                    x = self.fresh()
                    lets += [f"let {x} = ", Term(result, f"{name}({n}", *[p for u in extra for p in (", ", self.term(u, env, 1))], ")"), "; "]
                    env = env + [(x, result)]
            arms += [f"{c}" + (f"({', '.join(n for n, _ in bound)})" if bound else "") + " => { ", *lets, self.term(result, env, d), " }, "]
            self.transformations = kept
        self.functions.append((name, [t, *extra], result, False))
        return [Term(None, f"fn {name}({s}: {spell(t)}{heads}) -> {spell(result)} {{ match {s} {{ ", *arms, "} }")]

    def program(self, depth=4):
        functions = []
        for i in range(self.pick([0, 1, 1, 2, 3])):
            make = self.pick([self.plain, self.counted, self.structural])
            functions += make(f"{self.name}_{i}", depth - 1)
        result = self.pick([F, F, F, F, V, tup(F, V), tup(F, I), M])
        return Program(self.name, functions, self.term(result, list(PARAMETERS), depth + 1), result)
