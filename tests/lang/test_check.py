"""wick check of programs: modules, names, all mistakes at once."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))


def check(*args, **more):
    return subprocess.run([WICK, "check", *map(str, args)], capture_output=True, text=True, timeout=60, **more)


def write(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.wick").write_text(text)
    return folder / f"{next(iter(files))}.wick"


def test_modules(tmp_path):
    a = write(
        tmp_path,
        a="use b as c { Tree, size as count }\nfn f(t: Tree[i64]) -> i64 {\n"
        "  match t {\n    Leaf(x) => x,\n    c.Node(l, r) => count(l) + c.size(r),\n  }\n}\n",
        b="type Tree[a] { Leaf(a), Node(Tree[a], Tree[a]) }\n"
        "fn size(t: Tree[i64]) -> i64 {\n  match t {\n    Leaf(_) => 1,\n    Node(l, r) => size(l) + size(r),\n  }\n}\n",
    )
    r = check(a)
    assert (r.returncode, r.stderr) == (0, "")


def test_a_cycle_of_modules(tmp_path):
    a = write(tmp_path, a="use b\n", b="use c\n", c="use a\n")
    r = check(a)
    assert r.returncode == 1
    assert "c.wick:1:5: error: modules use each other: `a` uses `b` uses `c` uses `a`" in r.stderr


def test_all_mistakes_at_once(tmp_path):
    a = write(
        tmp_path,
        a="use nowhere { gone }\ntype T { A, A }\nfn f(x, x) { y }\nfn g(weights: f32[n]) { wieghts + gone }\n"
        "fn h(t: Tt) { match t { B => tnah(1.0), (a, a) => op.softmx(a) } }\n",
    )
    r = check(a)
    lines = [line.split("a.wick:", 1)[1] for line in r.stderr.splitlines() if "a.wick:" in line]
    assert lines == [
        f"1:5: error: there is no file {tmp_path}/nowhere.wick, and the library has no module `nowhere`",
        "2:13: error: `A` is defined twice",
        "2:10: note: the first definition is here",
        "3:9: error: two parameters have the name `x`",
        "3:14: error: there is no value `y`",
        "4:25: error: there is no value `wieghts`; did you mean `weights`?",
        "5:9: error: there is no type `Tt`; did you mean `T`?",
        "5:25: error: there is no constructor `B`",
        "5:30: error: there is no value `tnah`; did you mean `tanh`?",
        "5:45: error: the pattern binds `a` twice",
        "5:54: error: there is no operator `softmx`; did you mean `softmax`?",
    ]


def test_effects(tmp_path):
    a = write(
        tmp_path,
        a="fn f(x) { x + 1 }\nfn g(x, i) { x[i] }\nfn h(x) { print(x) }\nfn k(x) { if x { j(x) } else { h(f(1)) } }\n"
        "fn j(x) { k(x) }\n",
    )
    (one,) = json.loads(check("--json", a).stdout)
    assert [f["effect"] for f in one["functions"]] == ["pure", "may fail", "effect", "effect", "effect"]


def test_json(tmp_path):
    a = write(tmp_path, a="fn f() { y }\n")
    r = check("--json", a)
    (one,) = json.loads(r.stdout)
    assert (one["good"], one["kind"], r.returncode) == (False, "program", 1)
    assert one["problems"] == [
        {"file": str(a), "line": 1, "column": 10, "message": "there is no value `y`", "notes": []}
    ]


def test_remarks_of_limits(tmp_path):
    a = write(
        tmp_path,
        a="type List { Nil, Cons(i64, List) }\n"
        "fn down(n: i64, l: List) -> i64 { if n <= 0 { 0 } else { down(n - 1, Cons(n, l)) } }\n"
        "fn pow(x: f64, n: i64) -> f64 { if n <= 0 { 1.0 } else { x * pow(x, n - 1) } }\n"
        "fn fib(n: i64) -> i64 { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }\n"
        "fn kept(n: i64) { down(n + 1, Nil) }\n"
        "fn main(n: i64, x: f64) {\n  (down(n, Nil), kept(n), kept(7), pow(x, 13),\n   pow(x, 100000), fib(30))\n}\n",
    )
    r = check(a)
    assert (r.returncode, r.stderr) == (0, "")
    said = [line.split("a.wick:", 1)[1] for line in r.stdout.splitlines() if line.startswith("remark: ")]
    # A recursion that counts from a constant stays a call without a remark.
    assert [line.split(":")[2].split(" for all")[0] for line in said] == [" down is not specialized"] * len(said)
    assert said and all("is known of `l`: " in line for line in said)
    compiled = subprocess.run([WICK, "compile", a, "-o", tmp_path / "a.out"], capture_output=True, text=True)
    remarks = [line.split("a.wick:", 1)[1] for line in compiled.stderr.splitlines() if line.startswith("remark: ")]
    assert (compiled.returncode, remarks) == (0, said)
    (o,) = json.loads(check("--json", a).stdout)
    assert [line.split("a.wick:", 1)[1] for line in o["remarks"]] == said
    b = write(tmp_path, b="fn pow(x: f64, n: i64) -> f64 { if n <= 0 { 1.0 } else { x * pow(x, n - 1) } }\nfn main(x: f64) { pow(x, 13) }\n")
    assert "remark:" not in check(b).stdout
