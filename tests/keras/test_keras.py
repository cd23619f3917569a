"""Keras models that are kept with what Keras computes (make_files.py), the samples of ../shared, and files that are refused.

Where keras is installed, `make keras` compares every layer (layers.py).
"""
import io
import os
import pathlib
import re
import subprocess
import zipfile

import pytest

np = pytest.importorskip("numpy")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = pathlib.Path(__file__).parent / "files"
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build/wick"))
MODELS = sorted(p for p in FILES.iterdir() if p.suffix in (".keras", ".h5") and p.with_suffix(".npz").exists())


def wick(*arguments):
    return subprocess.run([WICK, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=120)


def refused(path):
    p = wick("plan", path)
    assert p.returncode == 1, p.stdout + p.stderr
    return p.stderr


def compare(model, case, folder, *options):
    kept = np.load(case)
    names = sorted((n for n in kept if n.startswith("input")), key=lambda n: int(n[6:]))
    for n in names:
        np.save(folder / f"{n}.npy", kept[n])
    p = wick("run", model, *options, "--inputs", *(folder / f"{n}.npy" for n in names), "--outputs", folder / "out")
    assert p.returncode == 0, p.stderr
    for n in (n for n in kept if n.startswith("output")):
        got, want = np.load(folder / "out" / f"{n}.npy"), kept[n]
        assert got.shape == want.shape
        if "mixed" in case.name:
            np.testing.assert_allclose(got.astype("float32"), want, rtol=2e-2, atol=2e-2)
        elif want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=0, atol=2e-5 * max(1, np.abs(want).max()))
        else:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_as_keras(path, tmp_path):
    reference = ["--reference"] if path.stem in ("every_function", "linear") else []  # hundreds of kernels
    compare(path, path.with_suffix(".npz"), tmp_path, *reference)


@pytest.mark.parametrize("name", ["nested_0.keras", "nested_2.h5", "functions.keras", "bidirectional_1.h5"])
def test_converted(name, tmp_path):
    p = wick("convert", FILES / name, "-o", tmp_path / "m.onnx")
    assert p.returncode == 0, p.stderr
    compare(tmp_path / "m.onnx", (FILES / name).with_suffix(".npz"), tmp_path)


def test_refused_by_name():
    said = refused(FILES / "refused.keras")
    assert 'node "twice" (custom mine>Own)' in said
    assert 'node "plus" (Lambda): the operator Lambda is not supported: it holds Python code' in said
    said = refused(FILES / "alone.weights.h5")
    assert "this HDF5 file has no model of Keras" in said and "model.save" in said


def changed(path, name, change):
    """The archive with another content of one entry."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as z, zipfile.ZipFile(out, "w") as to:
        for entry in z.namelist():
            to.writestr(entry, change(z.read(entry)) if entry == name else z.read(entry))
    return out.getvalue()


@pytest.mark.parametrize("old, new, message", [
    (b'"class_name": "Dense"', b'"class_name": "Dance"', "the operator Dance is not supported"),
    (b'"activation": "tanh"', b'"activation": "tanX"', 'the activation "tanX" is not supported'),
    (b'"keras_history": ["add"', b'"keras_history": ["odd"', "an argument is the result of a layer that does not exist"),
    (b"{", b"[", "config.json is no JSON: byte"),
])  # fmt: skip
def test_damaged_configuration(old, new, message, tmp_path):
    def change(text):
        assert old in text
        return text.replace(old, new, 1)

    (tmp_path / "m.keras").write_bytes(changed(FILES / "nested_0.keras", "config.json", change))
    assert message in refused(tmp_path / "m.keras")


@pytest.mark.parametrize("name, old, new, message", [
    ("nested_0", b'"name": "float32"', b'"name": "gptq/4/128_from_float32"', "(Dense): its weights are quantized (gptq/4/128), which is not supported"),
    ("nested_0", b'"name": "float32"', b'"name": "int8_from_float32"', '(Dense): the file has no weight "kernel_scale" of this layer'),
    ("multiheadattention_1", b'"name": "float32"', b'"name": "float8_from_float32"', "(MultiHeadAttention): its weights are quantized (float8), which is not supported"),
    ("quantized_int8_0", b'"mode": "int8"', b'"mode": "float8"', "(Dense): shapes do not broadcast: f32[batch,7,6] and f32[5]"),
    ("quantized_int8_0", b'"class_name": "AbsMaxQuantizer"', b'"class_name": "Own"', "(Dense): the quantizer Own is not supported"),
    ("quantized_int8_1", b'"equation": "abc,cde->abde"', b'"equation": "abc,cqe->abde"', "(EinsumDense): quantized weights with the equation abc,cqe->abde"),
    ("quantized_int4_1", b'"mode": "int4/128"', b'"mode": "int8"', "(EinsumDense)"),
    ("quantized_int8_0", b'"mode": "int8"', b'"mode": "int4"', 'the weight "kernel" of 4 bits is not packed along its last axis'),
])  # fmt: skip
def test_quantized_policies_that_do_not_fit(name, old, new, message, tmp_path):
    def change(text):
        assert old in text
        return text.replace(old, new)

    (tmp_path / "m.keras").write_bytes(changed(FILES / f"{name}.keras", "config.json", change))
    assert message in refused(tmp_path / "m.keras")


@pytest.mark.parametrize(
    "old, new, message",
    [
        (b'"x": null, "dx": 1.0', b'"x": 3, "dx": 1.0', '"trapezoid" (ops.Trapezoid): x is a number, expected an array'),
        (b'"num_segments": 5', b'"num_segments": 9223372036854775807', "(ops.SegmentSum): num_segments"),
        (b'"fft_length": 8', b'"fft_length": -8', '"rfft_1" (ops.RFFT): fft_length is -8'),
    ],
)
def test_damaged_functions(old, new, message, tmp_path):
    (tmp_path / "m.keras").write_bytes(changed(FILES / "every_function.keras", "config.json", lambda text: text.replace(old, new, 1)))
    assert message in refused(tmp_path / "m.keras")


def test_random_arguments_of_functions(tmp_path):
    values = [b"0", b"-1", b"9223372036854775807", b"-9223372036854775808", b"1e308", b"null", b'"x"', b"[]", b"[3, -7]", b"1000000"]
    for seed in range(6):
        rng = np.random.default_rng(seed)

        def config(m):
            change = lambda number: values[rng.integers(len(values))] if rng.random() < 0.5 else number.group(0)
            return m.group(1) + (re.sub(rb'(?<![\w".])-?\d+(\.\d+)?|null|true|false', change, m.group(2)) if rng.random() < 0.1 else m.group(2))

        data = changed(FILES / "every_function.keras", "config.json", lambda text: re.sub(rb'("config": \{"name": "[^"]*", )([^{}]*)', config, text))
        (tmp_path / "m.keras").write_bytes(data)
        p = wick("plan", tmp_path / "m.keras")
        assert p.returncode in (0, 1) and (p.returncode == 0 or p.stderr), (seed, p.stderr)


@pytest.mark.parametrize("name", ["masked_1.keras", "nested_2.h5"])
def test_cut_off_or_changed(name, tmp_path):
    data = (FILES / name).read_bytes()
    rng = np.random.default_rng(1)
    for k in range(20):
        part = bytearray(data[: rng.integers(1, len(data))] if k % 2 else data)
        for at in rng.integers(0, len(part), 6 if k % 2 == 0 else 0):
            part[at] = rng.integers(256)
        (tmp_path / "m").write_bytes(part)
        p = wick("plan", tmp_path / "m")
        assert p.returncode in (0, 1), p.stderr
