"""Donated inputs: outputs in their memory, with the same bits as without."""

import random

import numpy as np
import pytest

import built  # noqa: F401
import wick

STEP = """
use optim
struct Weights { table: f32[50, 4], out: f32[4, 3] }
fn loss(w: Weights, ids: i64[6]) { sum(square(w.table[ids] @ w.out)) }
fn main(w: Weights, ids: i64[6], rate: f32) {
  let (l, g) = value_and_grad(loss)(w, ids)
  (l, optim.sgd(w, g, rate))
}
"""


def text(tmp_path, source, name="step.wick"):
    path = tmp_path / name
    path.write_text(source)
    return wick.Model(str(path), entry="main")


def test_step_in_place(tmp_path):
    model = text(tmp_path, STEP)
    plain, given = model.compile(), model.compile(donate="w")
    assert plain.donors == (None, None, None) and given.donors == (None, 0, 1)
    rng = np.random.default_rng(1)
    table, out = rng.normal(size=(50, 4)).astype(np.float32), rng.normal(size=(4, 3)).astype(np.float32)
    ids, rate = np.array([3, 3, 9, 49, 0, 9]), np.float32(0.1)
    want = plain(table, out, ids, rate)
    table2, out2 = table.copy(), out.copy()
    got = given(table2, out2, ids, rate)
    for a, b in zip(got, want):
        np.testing.assert_array_equal(a, b)
    assert got[1] is table2 and got[2] is out2
    frozen = table.copy()
    frozen.flags.writeable = False  # then the output has memory of its own
    got = given(frozen, out.copy(), ids, rate)
    np.testing.assert_array_equal(got[1], want[1])
    np.testing.assert_array_equal(frozen, table)


def test_artifact_keeps_donors(tmp_path):
    program = text(tmp_path, STEP).compile(donate=["w.table"])
    program.save(tmp_path / "step.artifact")
    again = wick.Program.load(tmp_path / "step.artifact")
    assert again.donors == (None, 0, None)
    table = np.ones((50, 4), np.float32)
    result = again(table, np.ones((4, 3), np.float32), np.zeros(6, np.int64), np.float32(0.5))
    assert result[1] is table and table[1, 0] == 1 and table[0, 0] != 1


@pytest.mark.parametrize("names, message", [
    (["v"], 'there is no input "v" to donate'),
    (["ids"], 'input "ids" is donated, but no output of its type is left for it'),
    (["ids", "v", "w"], 'there is no input "v"'),
    ([""], 'there is no input ""'),
])
def test_refused(tmp_path, names, message):
    with pytest.raises(wick.WickError) as e:
        text(tmp_path, STEP).compile(donate=names)
    assert message in str(e.value)


def test_memory_of_two_inputs(tmp_path):
    program = wick.load(b"graph @main(@given(0) %x: f32[4], %y: f32[4]) -> f32[4] { %z = add %x, %y; return %z }", "a.wick").compile()
    x = np.arange(4, dtype=np.float32)
    with pytest.raises(wick.WickError, match='input "y" is in the memory of output'):
        program(x, x)
    assert program(x, np.ones(4, np.float32)) is x and x.tolist() == [1, 2, 3, 4]


def test_sizes_that_stay_open():
    program = wick.load(b"graph @main(@given(0) %x: f32[N[1..64],3], %y: f32[N,3]) -> f32[N,3] { %z = sub %x, %y; return %z }",
                        "a.wick").compile(dynamic=True)
    for n in 5, 64, 1:
        x = np.ones((n, 3), np.float32)
        assert program(x, 2 * x) is x and (x == -1).all()


OPERATORS = ["add", "sub", "mul", "max"]


def random_graph(rng):
    """Parameters of few types, some of which are given to results, and operators between them that read whole tensors,
    rows, transposed elements or neighbours."""
    lines, values = [], {"f32[4,6]": [], "f32[6,4]": [], "f32[24]": []}
    types = {}
    params = []
    for i in range(rng.randint(2, 5)):
        t = rng.choice(["f32[4,6]", "f32[4,6]", "f32[6,4]", "f32[24]"])
        params.append((f"%p{i}", t))
        values[t].append(f"%p{i}")
    count = 0

    def emit(t, expr):
        nonlocal count
        name = f"%v{count}"
        count += 1
        lines.append(f"  {name} = {expr}")
        values[t].append(name)
        return name

    for _ in range(rng.randint(2, 12)):
        t = rng.choice([t for t in values if values[t]])
        x = rng.choice(values[t])
        kind = rng.randrange(7)
        if kind < 2:
            emit(t, f"{rng.choice(OPERATORS)} {x}, {rng.choice(values[t])}")
        elif kind == 2 and t != "f32[24]":
            emit("f32[6,4]" if t == "f32[4,6]" else "f32[4,6]", f"transpose {x} {{perm=[1,0]}}")
        elif kind == 3:
            to = rng.choice([u for u in values if u != t])
            emit(to, f"reshape {x} {{shape=[{to[4:-1]}]}}")
        elif kind == 5:  # two rows of x are replaced by those of y
            shape = ",".join(["2"] + t[4:-1].split(",")[1:])
            y, rows = rng.choice(values[t]), f"%r{count}"
            lines.append(f"  {rows} = slice {y} {{begin=[{'1,0' if ',' in shape else '1'}], shape=[{shape}]}}")
            emit(t, f"scatter_nd {x}, %at, {rows}")
        elif kind == 4:
            rows, rest = int(t[4:-1].split(",")[0]), [int(n) for n in t[4:-1].split(",")[1:]]
            a, b = f"%a{count}", f"%b{count}"  # the second half before the first
            half = "[" + ",".join(map(str, [rows // 2] + rest)) + "]"
            zeros = "".join(",0" for _ in rest)
            lines.append(f"  {a} = slice {x} {{begin=[0{zeros}], shape={half}}}")
            lines.append(f"  {b} = slice {x} {{begin=[{rows // 2}{zeros}], shape={half}}}")
            emit(t, f"concat {b}, {a} {{axis=0}}")
        else:
            emit(t, f"relu {x}")
    results = []
    free = list(range(len(params)))
    given = {}
    for k in range(rng.randint(1, 4)):
        t = rng.choice([t for t in values if values[t]])
        results.append((rng.choice(values[t][-3:]), t))
        fit = [i for i in free if params[i][1] == t]
        if fit and rng.random() < 0.8:
            i = rng.choice(fit)
            free.remove(i)
            given[i] = k
    head = lambda with_given: ", ".join(  # noqa: E731
        (f"@given({given[i]}) " if with_given and i in given else "") + f"{name}: {t}" for i, (name, t) in enumerate(params)) + ", %at: i64[2,1]"
    outs = ", ".join(t for _, t in results)
    body = "\n".join(lines) + "\n  return " + ", ".join(name for name, _ in results)
    make = lambda with_given: f"graph @main({head(with_given)}) -> ({outs}) {{\n{body}\n}}\n"  # noqa: E731
    return make(False), make(True), [t for _, t in params], given


@pytest.mark.parametrize("part", range(4))
def test_random_graphs(part):
    rng = random.Random(100 + part)
    numbers = np.random.default_rng(part)
    shared = 0
    for _ in range(12):
        plain, donated, types, given = random_graph(rng)
        inputs = [numbers.normal(size=eval(t[3:])).astype(np.float32) for t in types]
        inputs.append(np.array([[3], [0]]))
        want = wick.load(plain.encode(), "a.wick").compile().run([x.copy() for x in inputs])
        own = [x.copy() for x in inputs]
        got = wick.load(donated.encode(), "a.wick").compile(threads=1 + part % 2).run(own)
        for i, k in given.items():
            assert got[k] is own[i], donated
        for a, b in zip(got, want):
            np.testing.assert_array_equal(a, b, err_msg=donated)
        for i, (x, y) in enumerate(zip(inputs, own)):
            if i not in given:
                np.testing.assert_array_equal(x, y, err_msg=donated)
        shared += len(given)
    assert shared > 5
