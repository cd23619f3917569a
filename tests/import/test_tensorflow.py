"""Models of TensorFlow: graphs in both forms, SavedModels, their errors, and hostile files.

The files in tests/import/tensorflow were written by make_tensorflow.py with TensorFlow 2.21, with the outputs that
TensorFlow computes. With TensorFlow installed (WICK_TENSORFLOW names its Python), random functions are compared, too.
"""

import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = pathlib.Path(__file__).parent / "tensorflow"
SHARED = ROOT / "../shared/frontends/graphdef"
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build/wick"))
CASES = sorted(p.name for p in FILES.iterdir() if p.is_dir())


def wick(*args, code=0):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=300)
    assert r.returncode == code, r.stdout + r.stderr
    return r.stdout + r.stderr


def compare(model, case, tmp_path, *args, tolerance=1e-4):
    inputs = sorted(case.glob("input_*.npy"), key=lambda p: int(p.stem.split("_")[1]))
    wick("run", model, *args, *(["--inputs", *inputs] if inputs else []), "--outputs", tmp_path / "out")
    wants = sorted(case.glob("output_*.npy"), key=lambda p: int(p.stem.split("_")[1]))
    assert wants
    for want in wants:
        got, want = np.load(tmp_path / "out" / want.name), np.load(want)
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * max(1, float(np.max(np.abs(want), initial=0))))


def model_of(case):
    for name in ("saved", "model.pb", "model.pbtxt"):
        if (case / name).exists():
            return case / name
    raise AssertionError(case)


@pytest.mark.parametrize("name", CASES)
def test_files(name, tmp_path):
    compare(model_of(FILES / name), FILES / name, tmp_path)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared models are not there")
@pytest.mark.parametrize("name", ["op_mix", "gru", "lstm_while", "layer_zoo"])
def test_shared(name, tmp_path):
    compare(SHARED / name / "model.pb", SHARED / name, tmp_path)
    compare(SHARED / name / "model.pb", SHARED / name / "case1", tmp_path)


@pytest.mark.parametrize("name", ["saved_dense", "graph_text"])
def test_convert(name, tmp_path):
    wick("convert", model_of(FILES / name), "-o", tmp_path / "model.onnx")
    compare(tmp_path / "model.onnx", FILES / name, tmp_path)


def test_sizes_that_depend_on_data(tmp_path):
    """One program for all contents, and an operator that cannot keep such a size, which needs them."""
    case = FILES / "graph_selected"
    wick("compile", case / "model.pb", "-o", tmp_path / "m.wick")
    rng = np.random.default_rng(2)
    for x in (np.load(case / "input_0.npy"), rng.standard_normal((6, 4)).astype(np.float32), np.ones((6, 4), np.float32)):
        np.save(tmp_path / "x.npy", x)
        wick("run", tmp_path / "m.wick", "--inputs", tmp_path / "x.npy", "--outputs", tmp_path)
        want = x[x[:, 0] > 0]
        for k, y in enumerate([want, None, None, want.T, None, want.mean(0), (2 * want * want).sum()]):
            if y is not None:
                np.testing.assert_allclose(np.load(tmp_path / f"output_{k}.npy"), y, rtol=1e-5, atol=1e-5)
    nodes = """node { name: "w" op: "Where" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
               node { name: "y" op: "%s" input: "w" attr { key: "T" value { type: DT_INT64 } } attr { key: "out_type" value { type: DT_INT32 } } }
               node { name: "z" op: "Identity" input: "y" attr { key: "T" value { type: DT_INT32 } } }"""
    np.save(tmp_path / "x.npy", np.array([[0, 3, 0], [4, 5, 0]], np.float32))
    for op, want in (("Shape", [3, 2]), ("Size", 6)):
        (tmp_path / "g.pbtxt").write_text(TEXT % (nodes % op))
        assert f'node "y" ({op}): the size of input 0, which depends on data, must be known' in wick("compile", tmp_path / "g.pbtxt", "-o", tmp_path / "g.wick", code=1)
        wick("run", tmp_path / "g.pbtxt", "--inputs", tmp_path / "x.npy", "--outputs", tmp_path)
        np.testing.assert_array_equal(np.load(tmp_path / "output_0.npy"), want)


def test_signatures(tmp_path):
    case = FILES / "saved_signatures"
    said = wick("run", case / "saved", "--entry", "none", "--inputs", case / "input_0.npy", code=1)
    assert 'the model has no signature "none", it has double, serving_default' in said
    wick("run", case / "saved", "--entry", "double", "--inputs", case / "input_0.npy", "--outputs", tmp_path)
    np.testing.assert_allclose(np.load(tmp_path / "output_0.npy"), 2 * np.load(case / "input_0.npy"))


def test_python(tmp_path):
    import built  # noqa: F401: finds the package
    import wick as w

    case = FILES / "saved_signatures"
    x = np.load(case / "input_0.npy")
    np.testing.assert_allclose(w.run(str(case / "saved"), x), np.load(case / "output_0.npy"), rtol=1e-5)
    np.testing.assert_allclose(w.run(w.load(case / "saved", entry="double"), x), 2 * x)


TEXT = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 2 } dim { size: -1 } } } } }
%s
"""
ERRORS = {
    'node { name: "y" op: "Nonsense" input: "x" } node { name: "z" op: "Other" input: "x" }':
        ['node "y" (Nonsense)', 'node "z" (Other)'],
    'node { name: "y" op: "Relu" input: "nothing" }': ['node "y" (Relu): its input "nothing" is no output of a node'],
    'node { name: "y" op: "Relu" input: "y" } node { name: "z" op: "Relu" input: "y" }': ["it depends on its own result"],
    'node { name: "x" op: "Relu" input: "x" }': ["another node has the same name"],
    'node { name: "y" op: "MatMul" input: "x" }': ['node "y" (MatMul): it has 1 inputs, expected 2'],
    'node { name: "y" op: "XlaCallModule" input: "x" }': ["programs of StableHLO in a graph are not read"],
    'node { name: "v" op: "VarHandleOp" } node { name: "y" op: "ReadVariableOp" input: "v" }':
        ['the variable "v" has no value: the graph is not frozen, and there is no checkpoint'],
    'node { name: "y" op: "PartitionedCall" input: "x" attr { key: "f" value { func { name: "g" } } } }':
        ['the library has no function "g"'],
    'node { name: "y" op: "Merge" input: "x" input: "x" }': ["its operands are not the two sides of one condition"],
    'node { name: "y" op: "Cast" input: "x" attr { key: "DstT" value { type: DT_COMPLEX128 } } }':
        ["elements of type DT_COMPLEX128 are not supported"],
    'node { name: "y" op: "Cast" input: "x" attr { key: "DstT" value { type: DT_COMPLEX64 } } }': ['the output "y" is complex; return its parts'],
    'node { name: "l" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 16777465 } } } } '
    'node { name: "s" op: "Const" attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 6 } } float_val: 1 } } } } '
    'node { name: "f" op: "RFFT" input: "s" input: "l" } node { name: "y" op: "ComplexAbs" input: "f" }':
        ['node "f" (RFFT): a transform of 16777465 elements, expected 1 to 4194304'],
    'node { name: "c" op: "Cast" input: "x" attr { key: "DstT" value { type: DT_COMPLEX64 } } } node { name: "y" op: "Relu" input: "c" }':
        ['node "y" (Relu): it takes no complex numbers here'],
}  # fmt: skip


@pytest.mark.parametrize("nodes", ERRORS)
def test_errors(nodes, tmp_path):
    (tmp_path / "g.pbtxt").write_text(TEXT % nodes)
    said = wick("plan", tmp_path / "g.pbtxt", code=1)
    for part in ERRORS[nodes]:
        assert part in said


def test_damaged(tmp_path):
    """Every truncation and some mutations of a small SavedModel: an error or a result, within bounds."""
    rng = np.random.default_rng(5)
    source = FILES / "saved_dense" / "saved"
    for name in ("saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"):
        whole = (source / name).read_bytes()
        for trial in range(12):
            folder = tmp_path / f"{pathlib.Path(name).name}-{trial}"
            shutil.copytree(source, folder)
            data = bytearray(whole[: int(rng.integers(len(whole)))] if trial % 2 else whole)
            for _ in range(trial % 2 or 3):
                if data:
                    data[int(rng.integers(len(data)))] ^= int(rng.integers(1, 256))
            (folder / name).write_bytes(bytes(data))
            r = subprocess.run([WICK, "check", str(folder)], capture_output=True, timeout=60)
            assert r.returncode in (0, 1, 2), (name, trial, r.stderr)


def test_random_functions():
    python = os.environ.get("WICK_TENSORFLOW")
    if not python:
        pytest.skip("WICK_TENSORFLOW names no Python with TensorFlow")
    r = subprocess.run([python, str(ROOT / "tests/import/tensorflow_functions.py"), "--wick", WICK, "--count", "5"],
                       capture_output=True, text=True)  # fmt: skip
    if r.returncode == 77:
        pytest.skip(r.stdout.strip())
    assert r.returncode == 0, r.stdout + r.stderr


def test_table_of_names():
    """Each file has the list of its operators, for docs and coverage."""
    for name in CASES:
        assert json.loads((FILES / name / "ops.json").read_text())
