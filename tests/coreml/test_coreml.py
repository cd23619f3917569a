"""Models of Core ML, beside the outputs that NumPy computed (make_models.py)."""
import io
import json
import os
import pathlib
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "bundle"))
from bundles import NAMES as NAMES_OF  # noqa: E402
from bundles import Bundle  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")
HERE = pathlib.Path(__file__).parent
CASES = zipfile.ZipFile(HERE / "cases.zip")
NAMES = sorted({name.split("/")[0] for name in CASES.namelist()} - {"refused"})
COMPILED = [n for k, n in enumerate(NAMES) if k % 16 == 0 or n.startswith(("loop", "branch"))]


def arrays(name, kind):
    files = sorted(f for f in CASES.namelist() if f.startswith("%s/%s_" % (name, kind)))
    return [np.load(io.BytesIO(CASES.read(f)), allow_pickle=False) for f in files]


def unpack(name, folder):
    folder.mkdir(parents=True)
    (folder / "model.mlmodel").write_bytes(CASES.read(name + "/model.mlmodel"))
    for k, a in enumerate(arrays(name, "input")):
        np.save(folder / ("input_%d.npy" % k), a)
    return folder / "model.mlmodel"


def run(model, folder, *options):
    inputs = sorted(str(f) for f in folder.glob("input_*.npy"))
    command = [WICK, "run", str(model), "--outputs", str(folder), *options] + (["--inputs"] + inputs if inputs else [])
    return subprocess.run(command, capture_output=True, text=True)


def compare(name, folder):
    """Returns what differs, or None."""
    for k, want in enumerate(arrays(name, "output")):
        file = folder / ("output_%d.npy" % k)
        got = np.load(file, allow_pickle=True)
        if name == "detector":  # the first rows are valid
            got = got[: len(want)]
        if got.shape != want.shape:
            return "output %d has shape %s, expected %s" % (k, got.shape, want.shape)
        if want.dtype.kind not in "fiu":
            same = [str(v) for v in got.ravel()] == [str(v) for v in want.ravel()]
            if not same:
                return "output %d is %s, expected %s" % (k, got, want)
        elif not np.allclose(got, want, rtol=1e-4, atol=2e-5):
            return "output %d differs by %g" % (k, np.abs(got.astype(float) - want).max())
    return None


def one(name, folder, *options):
    model = unpack(name, folder)
    r = run(model, folder, *options)
    return name, r.stderr if r.returncode else compare(name, folder)


def failures(names, tmp_path, *options):
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda n: one(n, tmp_path / n, *options), names))
    return ["%s: %s" % r for r in results if r[1]]


def test_every_layer(tmp_path):
    assert failures(NAMES, tmp_path, "--reference", "--no-limit") == []


def test_compiled(tmp_path):
    assert failures(COMPILED, tmp_path) == []


def package(name, folder):
    """The same model as a package."""
    data = folder / "Data" / "com.apple.CoreML"
    data.mkdir(parents=True)
    (data / "model.mlmodel").write_bytes(CASES.read(name + "/model.mlmodel"))
    items = {"0": {"path": "com.apple.CoreML/model.mlmodel"}, "1": {"path": "com.apple.CoreML/weights"}}
    (folder / "Manifest.json").write_text(json.dumps({"itemInfoEntries": items, "rootModelIdentifier": "0"}))
    return folder


def test_package(tmp_path):
    unpack("conv_pad", tmp_path / "m")
    r = run(package("conv_pad", tmp_path / "p"), tmp_path / "m")
    assert r.returncode == 0, r.stderr
    assert compare("conv_pad", tmp_path / "m") is None
    (tmp_path / "p/Manifest.json").write_text('{"rootModelIdentifier": "0", "itemInfoEntries": {"0": {"path": "../../../etc/passwd"}}}')
    assert run(tmp_path / "p", tmp_path / "m").returncode == 1


CONVERTED = ["conv_same_top", "deconv_same", "pool_average_last_b", "lstm_peephole", "crop_resize_roi", "top_k", "classic_image", "weights_linear_3",
             "logistic_three", "picture_bgr", "slice_dynamic", "scatter_add"]  # fmt: skip


def test_converted_to_onnx(tmp_path):
    wrong = []
    for name in CONVERTED:
        model = unpack(name, tmp_path / name)
        r = subprocess.run([WICK, "convert", str(model), "-o", str(tmp_path / name / "m.onnx")], capture_output=True, text=True)
        r = run(tmp_path / name / "m.onnx", tmp_path / name, "--reference") if r.returncode == 0 else r
        wrong += [(name, r.stderr)] if r.returncode else [(name, d) for d in [compare(name, tmp_path / name)] if d]
    assert wrong == []


def test_bundle(tmp_path):
    for name in ("conv_group", "lstm_states"):
        b = Bundle(unpack(name, tmp_path / name), tmp_path / name / "b", NAMES_OF["x86-64-v1"])
        got = b.run(*arrays(name, "input"))
        assert all(np.allclose(g, w, rtol=1e-4, atol=2e-5) for g, w in zip(got, arrays(name, "output"), strict=True))


def test_flexible_sizes_and_defaults(tmp_path):
    unpack("flexible", tmp_path / "f")
    for n in (1, 7):
        x = np.arange(3 * n, dtype=np.float32).reshape(n, 3)
        np.save(tmp_path / "f/input_0.npy", x)
        assert run(tmp_path / "f/model.mlmodel", tmp_path / "f", "--reference").returncode == 0
        assert np.array_equal(np.load(tmp_path / "f/output_0.npy"), x.sum(0, keepdims=True))
    model = unpack("optional", tmp_path / "o")
    x = arrays("optional", "input")[0]
    np.save(tmp_path / "o/input_1.npy", x * 2)
    r = run(model, tmp_path / "o", "--reference", "--override", "s")
    assert r.returncode == 0, r.stderr
    assert np.allclose(np.load(tmp_path / "o/output_0.npy"), x * 3)


def test_damaged(tmp_path):
    """Bytes that are cut off or changed are an error, or another model: never a crash."""
    rng = np.random.default_rng(3)
    for name in ("lstm_peephole", "loop_break", "svc_poly_three_0"):
        data = bytearray(CASES.read(name + "/model.mlmodel"))
        file = tmp_path / "m"
        for k in range(20):
            bad = bytearray(data[: rng.integers(1, len(data))] if k % 2 else data)
            for at in rng.integers(0, len(bad), 3):
                bad[at] = rng.integers(0, 256)
            file.write_bytes(bytes(bad))
            r = subprocess.run([WICK, "plan", str(file)], capture_output=True, timeout=20)
            assert r.returncode in (0, 1), (name, k, r.stderr)


def test_refused_by_name(tmp_path):
    model = unpack("refused", tmp_path / "m")
    r = subprocess.run([WICK, "plan", str(model)], capture_output=True, text=True)
    assert r.returncode == 1
    assert 'node "n" (custom): the operator custom is not supported: its code is in the application' in r.stderr
    assert 'node "m" (softmaxND): axis 7 is outside [-2, 1]' in r.stderr


def test_dictionary(tmp_path):
    """A dictionary that a vectorizer reads is given as a map; keys that it lacks are 0."""
    model = unpack("dict_vectorizer", tmp_path / "m")
    (tmp_path / "d.json").write_text('{"blue": 3.0, "red": 1.0}')
    r = subprocess.run([WICK, "run", str(model), "--inputs", str(tmp_path / "d.json"), "--outputs", str(tmp_path), "--reference"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    assert np.load(tmp_path / "output_0.npy").tolist() == [1, 0, 3]
