"""The command `wick`: run, bench and compile on models and files, as their users meet them."""

import os
import pathlib
import re
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits"
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def wick(*args, status=0, **more):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=300, **more)
    assert r.returncode == status, (args, r.stdout, r.stderr)
    return r.stdout if status == 0 else r.stderr


def outputs(folder):
    return [np.load(folder / f"output_{k}.npy") for k in range(len(list(folder.iterdir())))]


def pictures():
    return sorted(DIGITS.glob("*.png"))


def save(path, nodes, inputs, results, constants=(), **props):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(*o) for o in results],
        [numpy_helper.from_array(v, k) for k, v in dict(constants).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    helper.set_model_props(model, props)
    onnx.save(model, path)
    return path


@pytest.fixture
def small(tmp_path):
    """Two inputs, one of them with a dynamic batch size, and two outputs."""
    w = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
    return save(
        tmp_path / "small.onnx",
        [
            helper.make_node("MatMul", ["x", "w"], ["m"]),
            helper.make_node("Add", ["m", "b"], ["y"]),
            helper.make_node("Relu", ["y"], ["z"]),
        ],
        [("x", TensorProto.FLOAT, ["N", 4]), ("b", TensorProto.FLOAT, [3])],
        [("y", TensorProto.FLOAT, ["N", 3]), ("z", TensorProto.FLOAT, ["N", 3])],
        {"w": w},
    )


def feeds(tmp_path, n=2):
    rng = np.random.default_rng(n)
    x, b = rng.standard_normal((n, 4)), rng.standard_normal(3)
    np.save(tmp_path / "x.npy", x.astype(np.float32))
    np.save(tmp_path / "b.npy", b.astype(np.float32))
    return tmp_path / "x.npy", tmp_path / "b.npy"


@pytest.mark.parametrize("picture", pictures(), ids=lambda p: p.stem)
def test_digits(picture):
    lines = wick("run", DIGITS / "digits.onnx", "--input", picture).splitlines()
    assert len(lines) == 5 and lines[0].split()[1:] == ["%", picture.stem]


def test_digits_in_every_way(tmp_path):
    """Reference, compiled, from the cache, from an artifact, on several threads: bits are equal."""
    model, picture = DIGITS / "digits.onnx", DIGITS / "seven.png"
    wick("run", model, "--input", picture, "--reference", "-o", tmp_path / "ref")
    wick("run", model, "--input", picture, "--no-cache", "-o", tmp_path / "first")
    wick("compile", model, "-o", tmp_path / "digits.wick")
    first, ref = outputs(tmp_path / "first"), outputs(tmp_path / "ref")
    np.testing.assert_allclose(first[0], ref[0], rtol=1e-4, atol=1e-6)
    for k, args in enumerate(
        [
            [model],
            [model, "--threads", 1],
            [model, "--threads", 2],
            [model, "--threads", 4, "--jobs", 1],
            [tmp_path / "digits.wick", "--threads", 3],
        ]
    ):
        wick("run", *args, "--input", picture, "-o", tmp_path / f"{k}")
        assert outputs(tmp_path / f"{k}")[0].tobytes() == first[0].tobytes(), args


def test_pictures_become_what_the_model_wants(tmp_path):
    model = save(
        tmp_path / "identity.onnx",
        [helper.make_node("Relu", ["x"], ["y"])],
        [("x", TensorProto.FLOAT, [1, 3, 64, 64])],
        [("y", TensorProto.FLOAT, [1, 3, 64, 64])],
        image_scale="0.5",
    )
    out = tmp_path / "out"
    wick("run", model, "--input", DIGITS / "one.png", "-o", out)
    (y,) = outputs(out)
    assert y.max() == 127.5 and (y[0, 0] == y[0, 2]).all()
    wick("run", model, "--input", DIGITS / "one.png", "-o", out,
         "--mean=1,2,3", "--scale=2")  # fmt: skip
    assert (outputs(out)[0].max((0, 2, 3)) == [509, 508, 507]).all()
    message = wick("run", model, "--input", DIGITS / "one.png", "--layout", "chw", status=2)
    assert "chw" in message and "nhwc" in message


@pytest.mark.parametrize("n", [1, 2, 7])
def test_inputs_and_outputs(small, tmp_path, n):
    x, b = feeds(tmp_path, n)
    want = ort.InferenceSession(small).run(None, {"x": np.load(x), "b": np.load(b)})
    np.savez(tmp_path / "both.npz", b=np.load(b), x=np.load(x))  # by name, in another order
    for k, given in enumerate([[x, b], [f"{x},{b}"], [tmp_path / "both.npz"]]):
        out = tmp_path / f"out{k}"
        said = wick("run", small, "--inputs", *given, "--outputs", out)
        assert said.startswith(f"output_0 y: f32[{n},3]  from ")
        for got, expected in zip(outputs(out), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
            assert got.dtype == expected.dtype and got.shape == expected.shape


def test_what_is_wrong_with_inputs(small, tmp_path):
    x, b = feeds(tmp_path)
    np.save(tmp_path / "f64.npy", np.load(x).astype(np.float64))
    np.save(tmp_path / "wide.npy", np.zeros((2, 5), np.float32))
    (tmp_path / "junk.npy").write_bytes(b"junk")
    message = wick("run", small, "--inputs", x, status=1)
    assert "1 tensors are given, but the model has 2 inputs: x f32[?,4], b f32[3]" in message
    message = wick("run", small, "--inputs", tmp_path / "f64.npy", b, status=1)
    assert 'input "x": the file has f64[2,4], expected f32[?,4]' in message
    message = wick("run", small, "--inputs", tmp_path / "wide.npy", b, status=1)
    assert 'input "x": the file has f32[2,5], expected f32[?,4]' in message
    message = wick("run", small, "--inputs", tmp_path / "junk.npy", b, status=1)
    assert "junk.npy" in message
    assert "there is no target" in wick("run", small, "-i", x, b, "--target=z80", status=1)
    assert "No such file" in wick("run", small, "--inputs", tmp_path / "none.npy", b, status=1)
    assert "--threads" in wick("run", small, "--inputs", x, b, "--threads=-1", status=2)
    assert "is dynamic" in wick("bench", small, status=1)


def test_precision(small, tmp_path):
    x, b = feeds(tmp_path)
    for k, precision in enumerate([[], ["--precision", "f64"]]):
        wick("run", small, "-i", x, b, "-o", tmp_path / str(k), *precision)
    got, want = outputs(tmp_path / "0"), outputs(tmp_path / "1")
    assert got[0].dtype == want[0].dtype
    np.testing.assert_allclose(got[0], want[0], rtol=1e-5, atol=1e-5)
    assert "--precision: expected f64, bf16 or f16" in wick("run", small, "-i", x, b, "--precision", "f99", status=2)


def test_errors_against_f64(small, tmp_path):
    x, b = feeds(tmp_path)
    said = wick("compile", small, "-o", tmp_path / "x.wick", "--inputs", x, b)
    table = said.split("differences from f64")[1].splitlines()[1:]
    assert [line.split()[2] for line in table if ":" not in line] == ["y", "z"]
    assert all(float(line.split()[1]) <= float(line.split()[0]) < 1e-5 for line in table)
    wick("compile", small, "-o", tmp_path / "bundle", "--inputs", x, b)  # a bundle gets their sizes
    assert "_SIZES" not in next((tmp_path / "bundle").glob("*.h")).read_text()


def test_sizes_on_the_command_line(small, tmp_path):
    wick("compile", small, "--dim", "N=2", "-o", tmp_path / "two.wick")
    x, b = feeds(tmp_path)
    wick("run", tmp_path / "two.wick", "--inputs", x, b)
    x, b = feeds(tmp_path, 3)
    message = wick("run", tmp_path / "two.wick", "--inputs", x, b, status=1)
    assert "the file has f32[3,4], expected f32[2,4]" in message
    assert "no input has a size named M" in wick("bench", small, "--dim", "M=2", status=1)


def test_bench(small, cache):
    said = wick("bench", small, "--dim", "N=64", "--seconds", "0.1", "--threads", 1)
    assert "p50" in said and "p99" in said and "multiply-add ceiling" in said
    said = wick("bench", small, "--dim", "N=64", "--seconds", "0.1", "--threads", 1)
    assert "from the cache" in said
    assert len(list(cache.iterdir())) == 1


def test_roofline():
    """Each kernel with the machine's limits and the model's prediction, and all of them at the end."""
    text = wick("bench", DIGITS / "digits.onnx", "--roofline", "--seconds", 0.01, "--threads", 1)
    lines = text.splitlines()[2:]
    assert "multiply-adds" in lines[0] and "memory" in lines[0] and "predicted" in lines[1]
    assert lines[-1].endswith("all kernels")
    for line in lines[2:-1]:
        took, predicted, share = line.split()[:3]
        assert float(took) > 0 and float(predicted) >= 0 and share.endswith("%")


def test_threads():
    """The times of each kernel with two threads; the last line is for programs."""
    text = wick("bench", DIGITS / "digits.onnx", "--roofline", "--seconds", 0.01, "--threads", 2)
    lines = text.split("all kernels\n")[1].splitlines()
    assert "on 1 and 2 threads" in lines[0] and lines[-2].endswith("sum of the kernels")
    for line in lines[2:-1]:
        one, bound, together = map(float, line.split()[:3])
        assert one > 0 and bound > 0 and together > 0
    found = re.fullmatch(r"threads 2: one (\S+) ms, bound (\S+) ms, time (\S+) ms, bound / time (\S+)", lines[-1])
    assert all(float(x) >= 0 for x in found.groups())


def test_tune(tmp_path):
    """A file of records is written, searched on, used, named in the contract; a wrong one is refused."""
    records, model = tmp_path / "digits.records", DIGITS / "digits.onnx"
    assert "schedules replaced" in wick("tune", model, "--minutes", 0.02, "-o", records)
    text = records.read_text()
    assert text.startswith("wick records 1\ngroup ")
    wick("tune", model, "--minutes", 0, "-o", records)
    assert records.read_text().count("group ") >= text.count("group ")
    assert list(tmp_path.glob("digits.records?*")) == []
    tuned = wick("run", model, "--tuning", records, "--input", DIGITS / "seven.png").split()
    plain = wick("run", model, "--input", DIGITS / "seven.png").split()
    assert tuned[2::3] == plain[2::3]  # the labels: another tile of Winograd's algorithm rounds otherwise
    assert np.allclose([float(x) for x in tuned[::3]], [float(x) for x in plain[::3]], atol=0.01)
    contract = wick("compile", model, "--tuning", records, "-o", tmp_path / "d.wick")
    assert ("schedules of digits.records: " in contract) == ("\nsteps " in records.read_text())
    records.write_text("wick records 1\nsteps a\n")
    assert "digits.records:2: expected a group first" in wick("run", model, "--tuning", records, "--input",
                                                            DIGITS / "seven.png", status=1)  # fmt: skip
    assert "gone.records" in wick("compile", model, "--tuning", tmp_path / "gone.records", "-o", tmp_path / "e.wick",
                                  status=1)  # fmt: skip


def test_bench_pipe(small, tmp_path):
    x, b = feeds(tmp_path)
    command = [WICK, "bench", "--pipe", small, "--inputs", f"{x},{b}", "--threads", "1"]
    q = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    ready = q.stdout.readline().split()
    assert ready[0] == "ready" and float(ready[1]) >= 0

    def ask(text):
        q.stdin.write(text + "\n")
        q.stdin.flush()
        return q.stdout.readline()

    assert ask("run 10") == "ok\n"
    np.save(tmp_path / "x2.npy", np.full((2, 4), 3, np.float32))
    assert ask(f"feed {tmp_path / 'x2.npy'},{b}") == "ok\n"
    (tmp_path / "out").mkdir()
    assert ask(f"output {tmp_path / 'out'}") == "ok\n"
    want = ort.InferenceSession(small).run(
        None, {"x": np.load(tmp_path / "x2.npy"), "b": np.load(b)}
    )
    for got, expected in zip(outputs(tmp_path / "out"), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    q.stdin.close()
    assert q.wait() == 0


def test_without_the_code_generator(small, tmp_path, monkeypatch):
    x, b = feeds(tmp_path)
    monkeypatch.setenv("WICK_CODEGEN", str(tmp_path / "nowhere"))
    assert "nowhere" in wick("run", small, "--inputs", x, b, status=1)
    monkeypatch.setenv("WICK_CODEGEN", "/bin/false")
    assert "wick-codegen" in wick("run", small, "--inputs", x, b, status=1)


def test_record_of_branches(tmp_path):
    """Each branch of an if, and the steps of a loop, by their nodes' names; added up over runs."""
    import json

    size = 2000  # a loop with small kernels launches nothing
    flag, number = TensorProto.BOOL, TensorProto.INT64
    value = lambda name, kind, shape: helper.make_tensor_value_info(name, kind, shape)
    branch = [helper.make_graph([helper.make_node(op, ["x"], [op])], op, [], [value(op, TensorProto.FLOAT, [size])]) for op in ("Neg", "Abs")]
    body = helper.make_graph([helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Add", ["v", "x"], ["w"])], "body",
                             [value("i", number, []), value("go", flag, []), value("v", TensorProto.FLOAT, [size])],
                             [value("on", flag, []), value("w", TensorProto.FLOAT, [size])])
    graph = helper.make_graph(
        [helper.make_node("If", ["c"], ["chosen"], "choice", then_branch=branch[0], else_branch=branch[1]),
         helper.make_node("Loop", ["n", "", "chosen"], ["y"], "scan", body=body)],
        "g", [value("c", flag, []), value("n", number, []), value("x", TensorProto.FLOAT, [size])], [value("y", TensorProto.FLOAT, [size])])
    model, record = tmp_path / "flow.onnx", tmp_path / "record.json"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), model)
    wick("compile", model, "-o", tmp_path / "flow.wick")
    for c, n in (True, 5), (False, 0), (True, 90):
        for name, array in ("c", np.array(c)), ("n", np.array(n)), ("x", np.ones(size, "f")):
            np.save(tmp_path / f"{name}.npy", array)
        wick("run", tmp_path / "flow.wick", "--inputs", *(tmp_path / f"{i}.npy" for i in "cnx"), "--record-stats", record)
    said = json.loads(wick("explain", tmp_path / "flow.wick", "--profile", record, "--json"))
    by = {f["kind"]: f for f in said["flow"]}
    assert '"choice"' in by["if"]["location"] and (by["if"]["then"], by["if"]["else"]) == (2, 1)
    assert '"scan"' in by["loop"]["location"]
    assert [by["loop"][k] for k in ("times", "steps", "least", "most")] == [3, 95, 0, 90]
    text = wick("explain", tmp_path / "flow.wick", "--profile", record)
    assert "then 2, else 1" in text and "entered 3 times, 0 to 90 steps, 95 in all" in text


def test_specializations_for_contents(tmp_path):
    """Specializations for the contents of a small input have the same bits; and contents that cannot be guarded."""
    import json

    value = helper.make_tensor_value_info
    branch = [helper.make_graph([helper.make_node(op, ["x"], [op])], op, [], [value(op, TensorProto.FLOAT, ["rows", 4])]) for op in ("Neg", "Exp")]
    graph = helper.make_graph(
        [helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(np.array(300, "i2"))), helper.make_node("Equal", ["rate", "k"], ["c"]),
         helper.make_node("If", ["c"], ["y"], "choice", then_branch=branch[0], else_branch=branch[1])],
        "g", [value("rate", TensorProto.INT16, []), value("x", TensorProto.FLOAT, ["rows", 4]), value("z", TensorProto.INT64, [])],
        [value("y", TensorProto.FLOAT, ["rows", 4])])
    model, record = tmp_path / "rates.onnx", tmp_path / "record.json"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), model)
    args = ("compile", model, "--dim", "rows=1..64", "-o")
    wick(*args, tmp_path / "plain.wick")
    wick(*args, tmp_path / "guarded.wick", "--specialize-dim", "rows=5", "--specialize-input", "rate=300,-7")
    np.save(tmp_path / "z.npy", np.array(1))
    for rate, rows in (300, 5), (-7, 5), (8, 5), (300, 6), (300, 5):
        np.save(tmp_path / "rate.npy", np.array(rate, "i2"))
        np.save(tmp_path / "x.npy", np.linspace(-1, 1, rows * 4).astype("f").reshape(rows, 4))
        for name in "plain", "guarded":
            more = ("--record-stats", record) if name == "guarded" else ()
            wick("run", tmp_path / f"{name}.wick", "--inputs", *(tmp_path / f"{i}.npy" for i in ("rate", "x", "z")), "-o", tmp_path / name, *more)
        np.testing.assert_array_equal(np.load(tmp_path / "plain" / "output_0.npy"), np.load(tmp_path / "guarded" / "output_0.npy"))
    said = json.loads(wick("explain", tmp_path / "guarded.wick", "--profile", record, "--json"))
    runs = {(m["values"][0], *m.get("guards", {}).get("rate", ())): m for m in said["entries"]}
    assert {k: m["runs"] for k, m in runs.items()} == {(5,): 1, (5, 300): 2, (5, -7): 1, (6,): 1}
    assert runs[5, 300]["specialization"] == "ahead" and runs[5, 300]["specialized_ns"] and runs[6,]["always"] == {"rate": [300]}
    assert (said["flow"][0]["then"], said["flow"][0]["else"]) == (3, 2)
    text = wick("explain", tmp_path / "guarded.wick", "--profile", record)
    assert "rows=5 rate=-7" in text and "so far rate always 300" in text
    for given, status, said in (("rate", 2, "expected NAME=VALUE"), ("rate=1.5", 2, "expected NAME=VALUE"), ("rate=", 2, "expected NAME=VALUE"),
                                ("5", 2, "expected NAME=VALUE"), ("rat=5", 1, 'there is no input "rat"'),
                                ("rate=40000", 1, "40000 is not a value of type i16"), ("rate=true", 1, "it is no bool"),
                                ("rate=99999999999999999999", 1, "is not a value of type i16"), ("x=1", 1, "neither whole numbers nor bools"),
                                ("z=1", 1, "no branch depends on its contents"), ("rate=3,3", 1, "the same contents are given twice")):
        assert said in wick(*args, tmp_path / "no.wick", "--specialize-dim", "rows=5", "--specialize-input", given, status=status)
    assert "the size rows is dynamic, too" in wick(*args, tmp_path / "no.wick", "--specialize-input", "rate=3", status=1)
    assert "given 5 twice" in wick(*args, tmp_path / "no.wick", "--specialize-dim", "rows=5,5", status=1)
    wick("bench", model, "--dim", "rows=1..64", "--auto-specialize", 1, "--inputs", *(tmp_path / f"{i}.npy" for i in ("rate", "x", "z")), "-t", 1, "-s", 1)
    assert "rows=5 rate=300" in wick("explain", model, "--dim", "rows=1..64")  # out of the cache


def test_what_is_no_record(tmp_path):
    """`--record-stats` adds to a record, and leaves another file as it is."""
    import json

    model, x, record = tmp_path / "rows.txt", tmp_path / "x.npy", tmp_path / "record.json"
    model.write_text("graph @f(%x: f32[N[1..9],2]) -> f32[N,2] { %y = relu %x; return %y }")
    np.save(x, np.ones((3, 2), "f"))
    wick("compile", model, "-o", tmp_path / "rows.wick")
    good = {"values": [3], "runs": 1, "specialization": "none", "why": "", "base_ns": 5, "specialized_ns": 0}
    taken = {"location": "choice", "kind": "if", "then": 1, "else": 2}
    profile = lambda **other: json.dumps({"sizes": ["N"], "entries": [{**good, **other}]})
    flow = lambda **other: json.dumps({"sizes": ["N"], "entries": [], "flow": [{**taken, **other}]})
    no = "it is no record of sizes"
    for text, said in (
        ("", f"{no}: line 1: "), ('{"sizes": [],\n"entries": ]}', f"{no}: line 2: "), ("[]", no), ('{"sizes": ["N"], "entries": {}}', no),
        ('{"sizes": ["M"], "entries": []}', "it is a record of other sizes"), ('{"sizes": ["N"], "entries": [1]}', no), ('{"sizes": ["N"], "entries": [{}]}', no),
        (profile(values=3), no), (profile(values=[3, 4]), no), (profile(values=["3"]), no), (profile(runs=-1), no), (profile(runs="1"), no), (profile(runs=(1 << 63) - 1), no),
        (profile(specialization=5), no), (profile(guards=[1]), no), (profile(guards={"x": 1}), no), (profile(always={"x": [1.5]}), no), (flow(location=5), no), (flow(kind=None), no),
        (flow(then=-1), no), (flow(**{"else": (1 << 63) - 1}), no)):  # fmt: skip
        record.write_text(text)
        for command in ("run", tmp_path / "rows.wick", "--inputs", x, "-o", tmp_path / "out"), ("explain", tmp_path / "rows.wick"):
            assert f"{record}: {said}" in wick(*command, "--profile" if command[0] == "explain" else "--record-stats", record, status=1), text
        assert record.read_text() == text and np.load(tmp_path / "out/output_0.npy").shape == (3, 2)  # the outputs come first
    record.write_text(profile(guards={"x": [1]}))
    wick("run", tmp_path / "rows.wick", "--inputs", x, "--record-stats", record)
    assert [m["runs"] for m in json.loads(record.read_text())["entries"]] == [1, 1]
    several = [subprocess.Popen([WICK, "run", tmp_path / "rows.wick", "--inputs", x, "--record-stats", record], stdout=subprocess.DEVNULL) for _ in range(8)]
    assert [p.wait(60) for p in several] == [0] * 8
    assert [m["runs"] for m in json.loads(record.read_text())["entries"]] == [1, 9]  # none is lost
    assert "which --reference does not use" in wick("run", model, "--inputs", x, "--reference", "--record-stats", record, status=2)


@pytest.mark.parametrize("cache", [True, False])
def test_damaged_artifacts(tmp_path, cache):
    """Any byte that changed, of the weights, too; any end that is missing."""
    art, bad, picture = tmp_path / "digits.wick", tmp_path / "bad.wick", DIGITS / "seven.png"
    wick("compile", DIGITS / "digits.onnx", "-o", art, *([] if cache else ["--no-cache"]))
    whole, rng = art.read_bytes(), np.random.default_rng(5)
    for at in (*rng.integers(len(whole), size=40).tolist(), len(whole) - 1):
        changed = bytearray(whole)
        changed[at] ^= 1 << int(rng.integers(8))
        bad.write_bytes(changed)
        assert "bad.wick" in wick("run", bad, "--input", picture, status=1), at
    for n in rng.integers(len(whole), size=10).tolist():
        bad.write_bytes(whole[:n])
        assert "bad.wick" in wick("run", bad, "--input", picture, status=1), n
    changed = bytearray(whole)
    changed[len(whole) // 4] ^= 1  # most of it is weights
    bad.write_bytes(changed)
    assert "damaged: its constants are not those that were written" in wick("run", bad, "--input", picture, status=1)


def test_what_an_artifact_cannot_be_asked(tmp_path):
    """Flags of the compiler come too late; nothing is written."""
    model, x, art = tmp_path / "rows.txt", tmp_path / "x.npy", tmp_path / "rows.wick"
    model.write_text("graph @f(%x: f32[N[1..9],2]) -> f32[N,2] { %y = relu %x; return %y }")
    np.save(x, np.ones((3, 2), "f"))
    wick("compile", model, "-o", art)
    late = [[f, "N=3"] for f in ("--specialize-dim", "--specialize-input")] + [[f, "f64"] for f in ("--precision", "--target", "--tuning", "--grad", "--wrt")]
    for flag in (*late, ["--strict"], ["--auto-specialize", 2]):
        said = f"rows.wick: it is compiled: {'--grad' if flag[0] == '--wrt' else flag[0]} is for models"
        for command in ("run", art, "--inputs", x), ("bench", art, "--inputs", x), ("explain", art), ("compile", art, "-o", tmp_path / "no.wick"):
            assert said in wick(*command, *flag, status=1)
    for dim, said in (("N=1..4", "ranges are for models"), ("M=3", "it has no dynamic size named M"), ("N=4", "the size N is 3 here, --dim says 4")):
        assert said in wick("run", art, "--inputs", x, "--dim", dim, status=1)
    assert "those of a model" in wick("compile", art, "--inputs", x, "-o", tmp_path / "no.wick", status=1)
    assert not (tmp_path / "no.wick").exists()
    wick("run", art, "--inputs", x, "--dim", "N=3", "--threads", 1, "--no-cache", "--jobs", 1)
    wick("compile", art, "-o", tmp_path / "copy.wick")
    assert (tmp_path / "copy.wick").read_bytes() == art.read_bytes()


def test_copies_for_some_sizes(tmp_path):
    """Specialized ahead of time, with the same bits; out of the cache; and the profile."""
    import json

    rng = np.random.default_rng(11)
    w = numpy_helper.from_array(rng.standard_normal((12, 7)).astype("f"), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Softmax", ["m"], ["y"], axis=0)],
                              "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 12])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 7])], [w])
    model = tmp_path / "rows.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), model)
    ranges = ("--dim", "rows=1..64")
    wick("compile", model, "-o", tmp_path / "plain.wick", *ranges)
    wick("compile", model, "-o", tmp_path / "pinned.wick", *ranges, "--specialize-dim", "rows=5,33")
    record = tmp_path / "profile.json"
    for n in 5, 6, 33, 5:
        np.save(tmp_path / "x.npy", rng.standard_normal((n, 12)).astype("f"))
        for name in "plain", "pinned":
            more = ("--record-stats", record) if name == "pinned" else ()
            wick("run", tmp_path / f"{name}.wick", "--inputs", tmp_path / "x.npy", "-o", tmp_path / name, *more)
        np.testing.assert_array_equal(np.load(tmp_path / "plain" / "output_0.npy"),
                                      np.load(tmp_path / "pinned" / "output_0.npy"))
    said = json.loads(wick("explain", tmp_path / "pinned.wick", "--profile", record, "--json"))
    assert said["sizes"] == [{"name": "rows", "least": 1, "most": 64, "step": 1}]
    profile = {m["values"][0]: m for m in said["entries"]}
    assert [profile[n]["runs"] for n in (5, 6, 33)] == [2, 1, 1]
    assert [profile[n]["specialization"] for n in (5, 6, 33)] == ["ahead", "none", "ahead"]
    assert profile[5]["specialized_ns"] and not profile[5]["base_ns"] and profile[6]["base_ns"]
    assert "rows=6" in wick("explain", tmp_path / "pinned.wick", "--profile", record)
    assert "no size cols" in wick("compile", model, "-o", tmp_path / "no.wick", *ranges, "--specialize-dim", "cols=3", status=1)
    assert "expected NAME=N" in wick("compile", model, "-o", tmp_path / "no.wick", *ranges, "--specialize-dim", "5", status=2)
    wick("bench", model, *ranges, "--auto-specialize", 1, "--inputs", tmp_path / "x.npy", "-t", 1, "-s", 1)
    assert "rows=5" in wick("explain", model, *ranges)
