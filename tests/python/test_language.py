"""Programs of Wick's language in Python: functions, structs, and data in both directions."""
import threading

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402

PROGRAM = """
// lists and trees
type List[a] { Nil, Cons(a, List[a]) }
struct Pair { a: f32, b: f32[2] }
type Tree { Leaf, Node(Tree, Pair, (i64, bool), Tree) }
type Scalars { Scalars(f64, f32, f16, i8, u16, bool, i32[2, 3], f32[0], u4[3]) }
fn upto(n: i64) -> List[i64] { for i in 0..n with l = Nil { Cons(i, l) } }
fn total(l: List[i64]) -> i64 { match l { Nil => 0, Cons(x, rest) => x + total(rest) } }
fn map(f, l) { match l { Nil => Nil, Cons(x, rest) => Cons(f(x), map(f, rest)) } }
fn double(l: List[i64]) { map(fn(x) { 2 * x }, l) }
fn both(l: List[i64], k: f32[3]) { (l, k * 2.0, (l, double(l)), 5) }
fn grow(t: Tree, p: Pair) { Node(t, p, (len(p.b), true), t) }
fn pair(p: Pair, k: f32) { p with .a = k }
fn fails(l: List[i64], i: i64) { Cons([1, 2][i], l) }
fn same(s: Scalars) -> Scalars { s }
fn rows(x: f32[n, 2], w: f32[2]) { x @ w }
fn squares(l: List[f32]) -> f32 { match l { Nil => 0.0, Cons(x, rest) => x * x + squares(rest) } }
fn slopes(l: List[f32]) { grad(squares)(l) }
"""


@pytest.fixture(scope="module")
def m(tmp_path_factory):
    path = tmp_path_factory.mktemp("language") / "program.wick"
    path.write_text(PROGRAM)
    return wick.load(path)


def to_list(m, values):
    made = m.Nil
    for x in reversed(values):
        made = m.Cons(x, made)
    return made


def from_list(m, l):
    out = []
    while isinstance(l, m.Cons):
        out.append(l._0)
        l = l._1
    assert l is m.Nil
    return out


def test_lists(m):
    assert from_list(m, m.upto(4)) == [3, 2, 1, 0]
    l = to_list(m, [1, 2, 3])
    assert m.total(l) == 6
    assert m.double(l) == to_list(m, [2, 4, 6])
    same, k, (again, twice), five = m.both(l, [1, 2, 3])
    assert same == again == l and twice == m.double(l) and five == 5 and k.dtype == np.float32
    assert m.upto.type == "fn upto(i64) -> List[i64]" and m.upto.parameters == ("n",)
    assert from_list(m, m.slopes(to_list(m, [1.0, -2.0]))) == [2, -4]


def test_match_and_structs(m):
    t = m.grow(m.Leaf, p=m.Pair(1.5, [1, 2]))
    match t:
        case m.Node(left, m.Pair(a=a, b=b), (n, yes), right):
            assert left is m.Leaf and right is m.Leaf and a == 1.5 and b.tolist() == [1, 2] and n == 2 and yes is True
        case _:
            raise AssertionError(t)
    assert repr(m.Cons(1, m.Nil)) == "Cons(1, Nil)"
    assert repr(m.pair(m.Pair(a=1, b=[2, 3]), 7.0)).startswith("Pair(a=7.0, b=array([2., 3.]")
    assert t == m.grow(m.Leaf, m.Pair(1.5, np.float32([1, 2]))) != m.grow(t, m.Pair(1.5, [1, 2]))
    with pytest.raises(AttributeError):
        t._0 = t


def test_long_lists(m):
    l = m.upto(200_000)
    assert m.total(l) == 19_999_900_000
    assert l == m.upto(200_000) and l != m.double(l)
    assert len(repr(l)) < 100_000


def test_shared_parts_are_sent_once(m):
    t = m.Leaf
    for _ in range(60):  # 2 ** 60 leaves
        t = m.Node(t, m.Pair(0, [0, 0]), (0, False), t)
    grown = m.grow(t, m.Pair(1, [2, 3]))
    assert grown._0 is grown._3 and grown._0._0 is grown._0._3


def test_elements(m):
    given = m.Scalars(0.1, 0.25, 0.5, -7, 65535, True, np.arange(6, dtype=np.int32).reshape(2, 3), [], [1, 2, 15])
    pytest.importorskip("ml_dtypes")
    back = m.same(given)
    assert [np.asarray(x).astype(np.float64).tolist() for x in back.fields] == \
        [np.asarray(x, np.float64).tolist() for x in given.fields]


def test_sizes_follow_arrays(m):
    for n in 1, 5:
        assert m.rows(np.ones((n, 2), np.float32), [1, 2]).tolist() == [3] * n


def test_programs_that_are_kept(m, monkeypatch):
    monkeypatch.setattr(wick.language, "PROGRAMS", 2)
    f, compiled = m.rows, []
    monkeypatch.setattr(f, "_programs", {})
    compile = type(f.model).compile
    monkeypatch.setattr(type(f.model), "compile", lambda self, *a, **k: compiled.append(k["shapes"]["x"][0]) or compile(self, *a, **k))
    for n in (1, 2, 1, 3, 1, 2, 1):  # 3 replaces 2, and 2 replaces 3
        assert list(f(np.ones((n, 2), "f4"), [1, 2])) == [3] * n
    assert compiled == [1, 2, 3, 2]


def test_errors(m):
    with pytest.raises(wick.TypeMismatch, match=r"l: expected a List\[i64\] \(Nil, Cons\)"):
        m.total([1, 2])
    with pytest.raises(wick.TypeMismatch, match="is not a value of type i64"):
        m.total(m.Cons(1.5, m.Nil))
    with pytest.raises(wick.TypeMismatch, match="p: expected a Pair"):
        m.grow(m.Leaf, 3)
    with pytest.raises(wick.InvalidArgument, match="total takes 1 arguments: l"):
        m.total()
    with pytest.raises(wick.InvalidArgument, match="no parameter"):
        m.total(list=m.Nil)
    with pytest.raises(wick.TypeMismatch, match=r"program.wick:9:8: error: the entry `map` cannot have this parameter"):
        m.map(1, 2)
    with pytest.raises(wick.OutOfRange, match="program.wick"):
        m.fails(m.Nil, 9)
    assert from_list(m, m.fails(m.Nil, 1)) == [2]
    with pytest.raises(TypeError, match="Cons has 2 fields"):
        m.Cons(1)
    with pytest.raises(TypeError, match="Pair has the fields a, b"):
        m.Pair(1)


def test_mistakes_of_a_program(tmp_path):
    path = tmp_path / "wrong.wick"
    path.write_text("fn f(x: f32) { x + missing }\n")
    with pytest.raises(wick.TypeMismatch, match="wrong.wick:1:20: error: there is no value `missing`"):
        wick.load(path)


def test_threads(m):
    wrong = []

    def work(k):
        for n in range(20):
            if m.total(to_list(m, [k] * n)) != k * n:
                wrong.append((k, n))

    all = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in all:
        t.start()
    for t in all:
        t.join()
    assert not wrong
