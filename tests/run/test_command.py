"""The command line: output is written or the command fails, options and their values, and printed text."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto as T  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
SEVEN = ROOT / "examples" / "digits" / "seven.png"
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))


def wick(*args, status=0, **more):
    r = subprocess.run([WICK, *map(os.fsencode, map(str, args))], capture_output=True, timeout=300, **more)
    assert r.returncode == status, (args, r.stdout, r.stderr)
    return (r.stdout if status == 0 else r.stderr).decode(errors="replace")


def save(path, nodes, inputs, results, constants=(), **props):
    graph = helper.make_graph(
        [helper.make_node(op, i, o, **a) for op, i, o, a in nodes],
        "g",
        [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(*o) for o in results],
        [numpy_helper.from_array(v, k) for k, v in dict(constants).items()],
    )
    model = helper.make_model(graph, opset_imports=OPSETS, ir_version=8)
    helper.set_model_props(model, props)
    path.write_bytes(model.SerializeToString())
    return path


@pytest.fixture
def two(tmp_path):
    """Two inputs that are not to be mistaken for each other."""
    for name, value in ("x", [1, 2]), ("b", [10, 20]):
        np.save(tmp_path / f"{name}.npy", np.array(value, np.float32))
    return save(tmp_path / "two.onnx", [("Sub", ["x", "b"], ["y"], {})], [(k, T.FLOAT, ["N"]) for k in "xb"], [("y", T.FLOAT, ["N"])])


def test_bench_reads_pictures():
    said = wick("bench", ROOT / "examples/digits/digits.onnx", "--inputs", SEVEN, "--seconds", 0.01)
    assert "runs on" in said


def test_copies_are_called_copies(tmp_path):
    """A padded convolution of an input reads a copy of it in a buffer with a halo."""
    w = np.ones((32, 16, 3, 3), np.float32)
    model = save(tmp_path / "c.onnx", [("Conv", ["x", "w"], ["y"], {"pads": [1] * 4})], [("x", T.FLOAT, [1, 16, 40, 40])],
                 [("y", T.FLOAT, None)], {"w": w})  # fmt: skip
    said = wick("explain", model)
    assert re.search(r"^  (copy|main\.pack)\.\d+\.loop ", said, re.M) and "specialization." not in said


# ---- output arrives ----


def printing(two, folder):
    """A command line of every command that prints something."""
    (folder / "m.txt").write_text("graph @f(%x: f32[4]) -> f32[4] { %1 = neg %x; return %1 }")
    (folder / "p.wick").write_text("fn f(x) { x }\n")
    test = ROOT / "src" / "graph" / "dce.test"
    return {
        "bench": [DIGITS, "-s", "0.01"], "cache": ["path"], "calibrate": ["-o", folder / "processor"], "check": [DIGITS], "compile": [two, "-o", folder / "a.wick"],
        "convert": [two, "-o", folder / "c.onnx"], "eval": ["1 + 2"], "explain": [two], "fmt": ["--print", folder / "p.wick"], "help": [], "ops": [], "opt": [folder / "m.txt"],
        "plan": [two, "--dim", "N=3"], "run": [DIGITS, "-i", SEVEN], "targets": [], "test": [test if test.exists() else next((ROOT / "src").rglob("*.test"))],
        "tune": [DIGITS, "-m", "0.001", "-o", folder / "t.records"],
    }  # fmt: skip


def commands():
    return [line.split()[0] for line in subprocess.run([WICK, "help"], capture_output=True, text=True).stdout.splitlines() if line[:2] == "  " and line[2:3].isalpha()]


@pytest.mark.parametrize("command", commands())
def test_output_that_cannot_be_written(command, two, tmp_path):
    lines = printing(two, tmp_path)
    if command not in lines:
        pytest.fail(f"{command} is not in this test")
    line = [WICK, command, *map(str, lines[command])]
    assert subprocess.run(line, capture_output=True, timeout=300).stdout, line
    with open("/dev/full", "w") as full:
        r = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    assert r.returncode == 1 and f"wick {command}: cannot write to standard output: No space left" in r.stderr
    read, write = os.pipe()
    os.close(read)
    r = subprocess.run(line, stdout=write, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(write)
    assert r.returncode == 1 and f"wick {command}: cannot write to standard output: Broken pipe" in r.stderr
    r = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *line], stderr=subprocess.PIPE, text=True, timeout=300)
    assert r.returncode == 1 and f"wick {command}: cannot write to standard output: Bad file" in r.stderr


def test_files_that_cannot_be_written(two, tmp_path):
    x, b = tmp_path / "x.npy", tmp_path / "b.npy"
    (tmp_path / "full.wick").symlink_to("/dev/full")
    assert "No space left" in wick("compile", two, "-o", tmp_path / "full.wick", status=1)
    assert "No space left" in wick("convert", two, "-o", "/dev/full", status=1)
    assert "No space left" in wick("opt", write(tmp_path / "m.txt", "graph @f(%x: f32[4]) -> f32[4] { return %x }"), "-o", "/dev/full", status=1)
    out = tmp_path / "out"
    out.mkdir()
    (out / "output_0.npy").symlink_to("/dev/full")
    assert "output_0.npy: cannot write it: No space left" in wick("run", two, "-i", x, b, "-o", out, status=1)
    assert "Not a directory" in wick("run", two, "-i", x, b, "-o", x, status=1)
    assert "x.npy" in wick("run", two, "-i", x, b, "--record-stats", x, status=1)


def write(path, text):
    path.write_text(text)
    return path


def test_outputs_are_all_or_none(tmp_path):
    model = save(tmp_path / "m.onnx", [("Neg", ["x"], ["y"], {}), ("Abs", ["x"], ["z"], {})], [("x", T.FLOAT, [2])], [("y", T.FLOAT, [2]), ("z", T.FLOAT, [2])])
    np.save(tmp_path / "x.npy", np.zeros(2, np.float32))
    out = tmp_path / "out"
    (out / "output_1.npy").mkdir(parents=True)  # is in the way
    assert "output_1.npy" in wick("run", model, "-i", tmp_path / "x.npy", "-o", out, status=1)
    assert [p.name for p in out.iterdir()] == ["output_1.npy"]


# ---- inputs ----


def value(folder):
    return np.load(folder / "output_0.npy").tolist()


def test_names_in_an_archive(two, tmp_path):
    x, b = np.load(tmp_path / "x.npy"), np.load(tmp_path / "b.npy")
    out = tmp_path / "out"
    np.savez(tmp_path / "good.npz", b=b, x=x)
    wick("run", two, "-i", tmp_path / "good.npz", "-o", out)
    assert value(out) == [-9, -18]
    np.savez(tmp_path / "order.npz", x, b)  # arr_0, arr_1
    wick("run", two, "-i", tmp_path / "order.npz", "-o", out)
    assert value(out) == [-9, -18]
    np.savez(tmp_path / "bad.npz", bias=b, x=x)
    assert 'bad.npz: no input is called "bias"; the model\'s inputs are "x", "b"' in wick("run", two, "-i", tmp_path / "bad.npz", status=1)
    np.savez(tmp_path / "more.npz", b=b, x=x, y=x, z=x)
    assert 'no input is called "y", "z"' in wick("run", two, "-i", tmp_path / "more.npz", status=1)
    np.savez(tmp_path / "one.npz", x=x)
    assert 'input "x" is given twice' in wick("run", two, "-i", tmp_path / "one.npz", tmp_path / "good.npz", status=1)
    wick("run", two, "-i", tmp_path / "one.npz", tmp_path / "b.npy", "-o", out)
    assert value(out) == [-9, -18]


TEXTS = ["", "a", "grün", "日本語 text", "\U0001f600"]


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("kind", ["<U", ">U", "S", "pb"])
def test_strings(kind, order, tmp_path):
    node = ("StringNormalizer", ["x"], ["y"], {"case_change_action": "UPPER"})
    shape = [1, 5] if order == "F" else [5]
    model = save(tmp_path / "m.onnx", [node], [("x", T.STRING, shape)], [("y", T.STRING, shape)])
    texts = np.array(TEXTS).reshape(shape)
    if kind == "pb":
        path = tmp_path / "x.pb"
        path.write_bytes(numpy_helper.from_array(texts.astype(object), "x").SerializeToString())
    else:
        path = tmp_path / "x.npy"
        data = np.char.encode(texts, "utf-8") if kind == "S" else texts.astype(kind)
        np.save(path, np.asfortranarray(data) if order == "F" else data)
    for flags in [], ["--reference"]:
        wick("run", model, "-i", path, "-o", tmp_path / "out", *flags)
        assert np.load(tmp_path / "out" / "output_0.npy").ravel().tolist() == [t.upper() for t in TEXTS]


def test_strings_in_fortran_order(tmp_path):
    node = ("StringNormalizer", ["x"], ["y"], {"case_change_action": "NONE"})
    model = save(tmp_path / "m.onnx", [node], [("x", T.STRING, [1, 3])], [("y", T.STRING, [1, 3])])
    np.save(tmp_path / "x.npy", np.asfortranarray(np.array([["a", "bc", "def"]])))
    wick("run", model, "-i", tmp_path / "x.npy", "-o", tmp_path / "out")
    assert np.load(tmp_path / "out" / "output_0.npy").tolist() == [["a", "bc", "def"]]


def test_objects_are_refused_with_a_reason(two, tmp_path):
    np.save(tmp_path / "o.npy", np.array(["a", "b"], object))
    message = wick("run", two, "-i", tmp_path / "o.npy", tmp_path / "b.npy", status=1)
    assert "Python objects, which only Python can read" in message and "astype('U')" in message


# ---- options ----


@pytest.mark.parametrize("name", ["input.1_dim_0", "batch size", "2*N", "N+1", "a=b", "x,y", "größe", "-1", "3d", "mod"])
def test_names_of_dimensions(name, tmp_path):
    model = save(tmp_path / "m.onnx", [("Neg", ["x"], ["y"], {})], [("x", T.FLOAT, [name, 3])], [("y", T.FLOAT, [name, 3])])
    given = name.replace(",", "\\,")
    assert "input  x: f32[5,3]" in wick("check", model, "--dim", f"{given}=5")
    assert f"size   {name}: 1 to 7" in wick("check", model, "--dim", f"{given}=1..7")
    wick("bench", model, f"--dim={given}=5", "-s", "0")
    wick("compile", "--dim", f"{given}=1..7", model, "-o", tmp_path / "m.wick")
    wick("bench", "-s", "0", "--dim", f"{given}=5", tmp_path / "m.wick")
    assert f"{name} in 1..7" in wick("explain", tmp_path / "m.wick")
    text = wick("check", model, "--print")
    assert "[1..536870912]" in wick("opt", write(tmp_path / "m.txt", text[text.index("graph @"):]))  # it can be read


def test_the_model_goes_anywhere(two, tmp_path):
    x, b, out = tmp_path / "x.npy", tmp_path / "b.npy", tmp_path / "out"
    for line in ([two, "-i", x, b], ["-i", x, b, two], ["--inputs", f"{x},{b}", two], ["-i", x, "-i", b, "--", two], ["-i", x, b, two, "-t", 1], ["-t", 1, "-i", x, b, two],
                 ["--dim", "N=2", two, "-i", x, b], ["-i", x, b, "--dim", "N=2", two], ["--wrt", "x", two, "-i", x, b], ["-i", x, b, "--wrt", "x", two]):  # fmt: skip
        wick("run", "-o", out, *line)
        assert value(out) == [-9, -18], line
        shutil.rmtree(out)


def test_open_sizes_speak_of_options(two, tmp_path):
    hint = "; give it with --dim 'N=SIZE'"
    wick("compile", two, "-o", tmp_path / "two.wick")
    for line in (["bench", two], ["compile", two, "-o", tmp_path / "bundle"], ["plan", two], ["tune", two, "-m", 0, "-o", tmp_path / "t"], ["bench", tmp_path / "two.wick"]):
        message = wick(*line, status=1)
        assert message.rstrip().endswith(hint) and "shapes of the inputs" not in message, message


def test_values_are_checked(two):
    for option, bad in (("-s", "nan"), ("-s", "-1"), ("-s", "inf"), ("-s", "1e9"), ("-s", "1x"), ("-s", ""), ("--threads", "-1"), ("--threads", "1000000000"),
                        ("--threads", "two"), ("--jobs", "99999999999999999999"), ("-k", "-1"), ("--precision", "f99"), ("--dim", "N"), ("--dim", "N=1..x"),
                        ("--dim", "=3"), ("--auto-specialize", "2000"), ("--inputs", ""), ("--inputs", "a,,b"), ("--target", ""), ("--tuning", "")):  # fmt: skip
        message = wick("bench", two, option, bad, status=2)
        assert message.startswith(f"wick bench: {option}: expected ") and f'found "{bad}"' in message, message
    assert "wick plan: --align: expected a power of two" in wick("plan", two, "--align", 12, status=2)
    assert "--layout: expected nchw or nhwc" in wick("run", two, "--layout", "chw", status=2)
    assert "did you mean --threads?" in wick("run", two, "--thread", 1, status=2)
    for command in commands():
        assert "unknown option --no-such" in wick(command, "--no-such", status=2)
    assert 'did you mean "check"?' in wick("chekc", status=2)


# ---- printed text ----

EVIL = "a\x1b[31mb\x07\x9b"


def escapes(data):
    return [c for c in data.decode(errors="surrogateescape") if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or 0xDC80 <= ord(c) <= 0xDCFF]


def hostile(path):
    """Names with a terminal's commands and with bytes that are not UTF-8."""
    n = EVIL.encode("latin-1").decode("utf-8", "ignore")  # protobuf accepts this; a byte is inserted below
    model = save(path, [("Neg", [n + "QQ"], [n + "y"], {"name": n + "n"}), ("Relu", [n + "y"], [n + "z"], {"name": n + "m"})],
                 [(n + "QQ", T.FLOAT, [n + "d", 2])], [(n + "z", T.FLOAT, [n + "d", 2])], labels=f"{n}x,{n}y")  # fmt: skip
    path.write_bytes(model.read_bytes().replace(b"QQ", b"\xff\x9b"))
    return path


def test_terminals_are_spared(tmp_path):
    model = hostile(tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", np.ones((3, 2), np.float32))
    np.save(tmp_path / "bad.npy", np.ones((3, 5), np.float32))
    evil_path = os.fsencode(tmp_path) + b"/\x1b[31m\xff.npy"
    dim = EVIL.encode("latin-1").decode("utf-8", "ignore") + "d=3"
    lines = [["run", model, "-i", tmp_path / "x.npy"], ["run", model, "-i", tmp_path / "bad.npy"], ["run", model, "-i", evil_path],
             ["run", model], ["run", evil_path], ["check", model], ["check", model, "--print"], ["check", model, "--json"], ["explain", model],
             ["explain", model, "--json"], ["bench", model, "--dim", dim, "-s", "0"], ["bench", model, "--dim", dim, "-s", "0", "--roofline"],
             ["bench", model], ["compile", model, "-o", tmp_path / "m.wick"], ["run", tmp_path / "m.wick", "-i", tmp_path / "x.npy"],
             ["plan", model, "--dim", dim], ["run", model, "--no\x1b[31m"], ["run\x1b[31m"], ["run", model, "--threads", "\x1b[31m"],
             ["ops", "\x1b[31m"], ["convert", model, "-o", tmp_path / "c.onnx"], ["convert", model, "-o", evil_path],
             ["compile", model, "-o", evil_path + b"/x.wick"], ["run", model, "-i", tmp_path / "x.npy", "--target", "\x1b[31m"]]  # fmt: skip
    ran = 0
    for line in lines:
        r = subprocess.run([WICK, *(a if isinstance(a, bytes) else str(a) for a in line)], capture_output=True, timeout=300)
        assert not escapes(r.stdout) and not escapes(r.stderr), (line, r.stdout, r.stderr)
        ran += r.returncode == 0
        if "--json" in line:
            json.loads(r.stdout)
    assert ran >= 10
