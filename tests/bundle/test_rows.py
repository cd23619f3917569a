"""Every scalar operator on every element type and every kind of machine: the bits of exact operators are the same
everywhere; those of approximate ones are the same if the machines have the same fused multiply-add, and within the
sum of their bounds elsewhere."""

import functools
import re

import pytest

np = pytest.importorskip("numpy")

from bundles import NAMES, ROOT, Bundle, each_target  # noqa: E402

FLOATS = {"f64", "f32", "f16", "bf16"}
SINTS, UINTS = {"i64", "i32", "i16", "i8"}, {"u64", "u32", "u16", "u8"}
BITS = {t: int(re.sub(r"\D", "", t.replace("bf", ""))) for t in FLOATS | SINTS | UINTS}
SETS = {"WICK_FLOATS": FLOATS, "WICK_SINTS": SINTS, "WICK_UINTS": UINTS, "WICK_INTS": SINTS | UINTS,
        "WICK_NUMBERS": FLOATS | SINTS | UINTS, "WICK_BOOLS": {"bool"}, "WICK_TEXTS": set(),
        "WICK_PLAIN": FLOATS | SINTS | UINTS | {"bool"}}  # fmt: skip
DIVIDES = {"div", "mod", "fmod"}
ORDER = sorted(SETS["WICK_PLAIN"])
N = 512

# The levels of x86-64 that others are compared with: without fma, and with it.
WITHOUT, WITH = NAMES["x86-64-v1"], NAMES["x86-64-v3"]
FMA = {"x86-64-v3": FLOATS, "x86-64-v4": FLOATS, "armv8-a": FLOATS, "armv8.2-a": FLOATS, "armv8.2-a-sve256": FLOATS,
       "armv8.2-a-sve512": FLOATS, "rv64gc": FLOATS, "rv64gcv": FLOATS, "rv64gcv-zvl256b": FLOATS, "rv64gcv-zvl512b": FLOATS,
       "cortex-m4": FLOATS - {"f64"}, "cortex-m7": FLOATS, "cortex-m55": FLOATS}  # fmt: skip


def elements(word):
    """Of WICK_FLOATS, or of WICK_BIT(WICK_F32)."""
    one = re.fullmatch(r"WICK_BIT\(WICK_(\w+)\)", word)
    return {one[1].lower()} if one else SETS[word]


class Row:
    def __init__(self, name, text):
        def field(what, default):
            m = re.search(rf"\.{what} = ([^\n]*?),?$", text, re.M)
            return m[1] if m else default

        self.name, self.rule = name, field("scalar", "").removeprefix("WICK_RULE_")
        self.nin = int(field("nin", "{1, 1}")[1])
        self.ulp = float(field("ulp", "0"))
        elems = field("elems", "WICK_PLAIN")
        named = set().union(*(elements(s.strip(" ~")) for s in elems.split("|")))
        self.elems = SETS["WICK_PLAIN"] - named if elems.startswith("~") else named
        self.tensors = field("level", "") == "WICK_SCALAR_LEVELS"


def rows():
    found = []
    for path in sorted((ROOT / "src" / "ops").rglob("*.c")):
        for m in re.finditer(r"const wick_op wick_op_(\w+) = \{(.*?)\n\};", path.read_text(), re.S):
            if ".scalar = " in m[2]:
                found.append(Row(m[1], m[2]))
    return [r for r in found if r.tensors]


ROWS = rows()


def cases(row, elem):
    """The result types of an operator on operands of a type."""
    if elem not in row.elems:
        return []
    if row.rule == "COMPARE":
        return ["bool"]
    if row.rule != "TYPED":
        return [elem]
    if row.name == "cast":
        return [t for t in ORDER if t != elem]
    if row.name == "narrow":
        return ["f16", "bf16"]
    return [t for t in ORDER if t != elem and elem != "bool" != t and BITS[t] == BITS[elem]]


def module(elem):
    """A graph with all operators on one element type, and its outputs."""
    nodes, outputs = [], []
    for row in ROWS:
        for out in cases(row, elem):
            operands = ["%c", "%x", "%y"] if row.rule == "SELECT" else ["%x", "%y", "%z"]
            if row.name in DIVIDES:  # by zero, integers are not divided
                operands[1] = "%d"
            nodes.append(f"  %r{len(outputs)} = {row.name} {', '.join(operands[: row.nin])} : {out}[{N}]")
            outputs.append((row, out))
    types = ", ".join(f"{out}[{N}]" for _, out in outputs)
    results = ", ".join(f"%r{i}" for i in range(len(outputs)))
    params = ", ".join(f"%{v}: {elem}[{N}]" for v in "xyzd")
    return f"graph @main(%c: bool[{N}], {params}) -> ({types}) {{\n" + "\n".join(nodes) + f"\n  return {results}\n}}\n", outputs


# ---- numbers ----


def bf16(x):
    """To nearest even, as bits."""
    with np.errstate(over="ignore", invalid="ignore"):
        u = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    r = ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), r)


def as_f64(a, elem):
    with np.errstate(invalid="ignore"):  # signalling NaN
        if elem == "bf16":
            return (a.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        return a.astype(np.float64)


def floats(elem, r):
    """Pairs of numbers at which something happens, and others."""
    tiny, huge = {"f64": (5e-324, 1.7e308), "f32": (1e-45, 3.4e38), "f16": (6e-8, 65504.0), "bf16": (1e-40, 3.3e38)}[elem]
    special = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, tiny, -7 * tiny, huge, -huge, np.inf, -np.inf, np.nan,
                        127.5, -3000.25])  # fmt: skip
    x, y = (v.ravel() for v in np.meshgrid(special, special))
    more = r.normal(size=N - x.size) * np.exp(r.normal(size=N - x.size) * 2)
    other = r.normal(size=N - x.size) * np.exp(r.normal(size=N - x.size) * 2)
    return np.concatenate([x, more]), np.concatenate([y, other])


def integers(elem, r):
    bits = BITS[elem]
    low, high = (0, 2**bits - 1) if elem[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    special = [low, high, low + 1, high - 1, 0, 1, 2, 3, 5, 7, 8, 31, 63, 100, high // 2, low // 2]
    if low < 0:
        special[10:12] = [-1, -7]
    pairs = [(a, b) for a in special for b in special]
    pairs += [tuple(int(v) >> int(r.integers(bits)) for v in r.integers(low, high, 2, endpoint=True, dtype=object_type(elem)))
              for _ in range(N - len(pairs))]  # fmt: skip
    return tuple(np.array(v, object_type(elem)) for v in zip(*pairs))


def object_type(elem):
    return np.dtype({"u": "uint", "i": "int"}[elem[0]] + elem[1:])


@functools.cache
def inputs(elem):
    c, x, y, z = operands(elem)
    return c, x, y, z, (y if elem in FLOATS or elem == "bool" else np.where(y == 0, 3, y).astype(y.dtype))


def operands(elem):
    r = np.random.default_rng(len(elem) * 100 + ord(elem[0]))
    c = r.integers(0, 2, N).astype(np.bool_)
    if elem == "bool":
        return (c, *(r.integers(0, 2, N).astype(np.bool_) for _ in range(3)))
    x, y = floats(elem, r) if elem in FLOATS else integers(elem, r)
    z = r.permutation(y)
    if elem == "bf16":
        return (c, *(bf16(v) for v in (x, y, z)))
    if elem in FLOATS:
        with np.errstate(over="ignore", invalid="ignore"):
            return (c, *(v.astype(f"float{BITS[elem]}") for v in (x, y, z)))
    return c, x, y, z


# ---- comparing ----


def nan_at(a, elem):
    return np.isnan(as_f64(a, elem)) if elem in FLOATS else np.zeros(a.shape, bool)


def different(a, b, elem):
    """Where the bits differ; NaN is NaN."""
    x, y = (v.view(np.uint8).reshape(N, -1) for v in (a, b))
    return (x != y).any(1) & ~(nan_at(a, elem) & nan_at(b, elem))


def apart(a, b, elem, ulps):
    """Where two floats are more than so many units in the last place apart."""
    x, y = as_f64(a, elem), as_f64(b, elem)
    digits, least = {"f64": (53, -1074), "f32": (24, -149), "f16": (11, -24), "bf16": (8, -133)}[elem]
    finite = np.isfinite(x) & np.isfinite(y)
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.maximum(np.frexp(np.maximum(abs(x), abs(y)))[1] - digits, least)
        far = abs(x - y) > ulps * np.ldexp(1.0, np.where(finite, size, 0))
        most = np.ldexp(1 - 2.0**-digits, {"f64": 1024, "f32": 128, "f16": 16, "bf16": 128}[elem])
        edge = (abs(x) >= most * (1 - 2.0**-6)) & (abs(y) >= most * (1 - 2.0**-6)) & (np.sign(x) == np.sign(y))
    return np.where(finite, far, different(a, b, elem) & ~edge)


@functools.cache
def results(folder, target, elem):
    text, outputs = module(elem)
    here = folder / f"{target}-{elem}"
    here.mkdir()
    (here / "rows.wick").write_text(text)
    b = Bundle(here / "rows.wick", here, target, "rows", embed=True)
    assert not b.needs()
    return list(zip(outputs, b.run(*inputs(elem)), strict=True))


def check(row, elem, out, have, want, bound):
    bad = apart(have, want, out, bound) if bound else different(have, want, out)
    if not bad.any():
        return None
    i = int(bad.argmax())
    x = [as_f64(v, elem)[i] if elem in FLOATS else v[i] for v in inputs(elem)[1:]]
    return f"{row.name} {elem} -> {out}: {have[i]!r} instead of {want[i]!r} at {x}, {int(bad.sum())} of {N}"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rows")


@pytest.mark.parametrize("elem", ORDER)
@each_target
def test_rows(target, elem, folder):
    target.want(), WITHOUT.want(), WITH.want()
    fused = elem in FMA.get(target.name, ())
    said = []
    for ((row, out), have), (_, plain), (_, like) in zip(
        results(folder, target, elem), results(folder, WITHOUT, elem), results(folder, WITH if fused else WITHOUT, elem)
    ):
        ulp = row.ulp if elem in FLOATS else 0
        said.append(check(row, elem, out, have, like if ulp or row.name == "muladd" else plain, 0))
        if ulp:  # two roundings of a narrow float, each half a unit and a little more
            said.append(check(row, elem, out, have, plain, 2 * ulp if elem in ("f32", "f64") else 1))
    said = [s for s in said if s]
    assert not said, "\n".join(said)


def test_all_rows_are_there():
    names = {r.name for r in ROWS}
    assert {"add", "exp", "cast", "where", "fma", "mod", "tanh"} <= names
    assert len(names) >= 77
