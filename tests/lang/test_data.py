"""`wick run` with data: arguments in the language's syntax, results in it, in JSON and in files; artifacts; bundles refuse it."""
import json
import os
import subprocess

import pytest

WICK = os.environ.get("WICK_COMMAND", "build/wick")
PROGRAM = """
type List[a] { Nil, Cons(a, List[a]) }
struct Pair { a: f32, b: i64[2] }
type Tree { Leaf, Node(Tree, Pair, (u8, bool), Tree) }
type Box { Box(f32) }
fn upto(n: i64) -> List[i64] { for i in 0..n with l = Nil { Cons(i, l) } }
fn map(f, l) { match l { Nil => Nil, Cons(x, rest) => Cons(f(x), map(f, rest)) } }
fn double(l: List[i64]) { map(fn(x) { 2 * x }, l) }
fn both(l: List[i64], k: f32[n], p: (bool, f64)) { (l, k * 2.0, p) }
fn grow(t: Tree, p: Pair) { Node(t, p, (3u8, true), t) }
fn box(b: Box) { match b { Box(x) => Box(x + 1.0) } }
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "program.wick"
    path.write_text(PROGRAM)
    return path


def wick(*words):
    return subprocess.run([WICK, *map(str, words)], capture_output=True, text=True, timeout=100)


def run(path, entry, args, *more):
    made = wick("run", path, "--entry", entry, "--args", args, *more)
    assert made.returncode == 0, made.stderr
    return made.stdout


def test_results(path):
    assert run(path, "upto", "3") == "output_0 result: List[i64]\nCons(2, Cons(1, Cons(0, Nil)))\n"
    assert "Cons(2, Cons(-4, Nil))" in run(path, "double", "Cons(1, Cons(-2, Nil,),)")
    assert "Box(3.5)\n" in run(path, "box", "Box(2.5)")
    out = run(path, "both", "Nil, [1, 2.5], (true, 1e3)")
    assert "Nil\n" in out and "5" in out and "1000" in out
    assert "Node(Leaf, Pair(a = 1.5, b = [-1, 2]), (3, true), Leaf)\n" in run(path, "grow", "Leaf, Pair(1.5, b = [-1, 2])")
    assert "Node(Node(Leaf, Pair(" in run(path, "grow", "Node(Leaf, Pair(a = 0, b = [0, 0]), (255, false), Leaf), Pair(1, [2, 3])")


def test_json_and_files(path, tmp_path):
    out = json.loads(run(path, "double", "Cons(1, Nil)", "--json", "--outputs", tmp_path))["outputs"][0]
    assert out["type"] == "List[i64]" and out["values"] == "Cons(2, Nil)" and out["file"].endswith("output_0.data")
    assert (tmp_path / "output_0.data").read_bytes()[:8] == b"wickdata"


def test_artifact(path, tmp_path):
    made = wick("compile", path, "--entry", "double", "-o", tmp_path / "double.wick")
    assert made.returncode == 0, made.stderr
    made = wick("run", tmp_path / "double.wick", "--args", "Cons(4, Nil)")
    assert "Cons(8, Nil)" in made.stdout, made.stderr


@pytest.mark.parametrize("entry, args, message", [
    ("double", "Cons(1, Nill)", '--args: "l": at character 9: `Nill`, expected a List[i64]: Nil, Cons'),
    ("double", "Cons(1.5, Nil)", '"l": at character 6: `1.5`, expected a whole number'),
    ("double", "Cons(1)", '"l": at character 7: `)`, expected `,`'),
    ("double", "Cons(1", "--args: the text ends, expected `)`"),
    ("double", "Nil, Nil", "at character 6: `Nil`, expected `)`"),
    ("double", "", "not empty"),
    ("double", "Cons(99999999999999999999, Nil)", "99999999999999999999 is no i64"),
    ("grow", "Node(Leaf, Pair(0, [0, 0]), (256, false), Leaf), Pair(1, [2, 3])", "256 is no u8"),
    ("grow", "Leaf, Pair(1, [2])", '"p.b" is i64[1], expected i64[2]'),
    ("grow", "Leaf, Pair(1, [[2], 3])", "lists of equal depth"),
    ("double", "Cons(1, " * 3000 + "Nil" + ")" * 3000, "nested more than 2000 levels deep"),
])
def test_refused(path, entry, args, message):
    made = wick("run", path, "--entry", entry, "--args", args)
    assert made.returncode != 0 and message in made.stderr, made.stderr


def test_other_commands(path, tmp_path):
    np = pytest.importorskip("numpy")
    np.save(tmp_path / "n.npy", np.int64(3))
    made = wick("run", path, "--entry", "double", "--inputs", tmp_path / "n.npy")
    assert made.returncode != 0 and "it is a List[i64]; `wick run` takes it as --args" in made.stderr
    made = wick("bench", path, "--entry", "double")
    assert made.returncode != 0 and "only functions of tensors are measured" in made.stderr
