"""The benchmark networks: outputs against ONNX Runtime on inputs made now, the same bits on 1, 2 and 4 threads, from
the cache, from an artifact and from a bundle, and runs that allocate nothing. The large ones run if WICK_LARGE is
set."""

import os
import pathlib
import subprocess
import sys

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

ROOT = pathlib.Path(__file__).parents[2]
MAKE = ROOT / ".." / "shared" / "bench" / "make_models.py"
BUILD = pathlib.Path(os.environ.get("WICK_BUILD", ROOT / "build"))
WICK = os.environ.get("WICK_COMMAND", str(BUILD / "wick"))
NOALLOC = BUILD / "tests" / "driver.noalloc_test"  # counts the calls of malloc in runs 2 to 100
SMALL = ["lenet", "dqn", "squeezenet", "shufflenet", "mobilenet_v2", "densenet121", "inception_v1"]
LARGE = ["resnet18", "resnet50", "dcgan", "lstm_lm", "alexnet", "vgg19"]

sys.path.insert(0, str(ROOT / "tests" / "bundle"))
from bundles import HOST, Bundle  # noqa: E402

if not MAKE.exists():
    pytest.skip("../shared/bench/make_models.py is not there", allow_module_level=True)


def run(*args):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=600)
    assert r.returncode == 0, (args, r.stderr)


def outputs(folder):
    return [np.load(folder / f"output_{k}.npy") for k in range(len(list(folder.iterdir())))]


@pytest.mark.parametrize("logits", [False, True], ids=["whole", "logits"])
@pytest.mark.parametrize("name", SMALL + LARGE)
def test_network(name, logits, tmp_path, monkeypatch):
    if name in LARGE and not os.environ.get("WICK_LARGE"):
        pytest.skip("large; WICK_LARGE=1 runs it")
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))
    make = [sys.executable, MAKE, *(["--logits"] if logits else []), tmp_path, name]
    subprocess.run(make, check=True, capture_output=True)
    model, rng = tmp_path / f"{name}.onnx", np.random.default_rng()
    feeds, files = [], []
    for k, f in enumerate(sorted(tmp_path.glob(f"{name}.input_*.npy"))):
        x = np.load(f)
        if x.dtype == np.float32:  # others are indices: they stay
            x = (rng.standard_normal(x.shape) * (x.std() or 1) + x.mean()).astype(np.float32)
        feeds.append(x)
        files.append(tmp_path / f"new_{k}.npy")
        np.save(files[-1], feeds[-1])
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    want = session.run(None, {i.name: x for i, x in zip(session.get_inputs(), feeds)})
    first = None
    run("compile", model, "-o", tmp_path / "net.wick", "--no-cache")
    for what, threads in [(model, 1), (model, 2), (model, 4), (tmp_path / "net.wick", 3)]:
        out = tmp_path / f"out_{what.suffix}_{threads}"
        run("run", what, "--inputs", *files, "-o", out, "--threads", threads)
        got = outputs(out)
        bits = [g.tobytes() for g in got]
        first = first or bits
        assert bits == first, f"{what.name} on {threads} threads has other bits"
    bundle = Bundle(model, tmp_path / "bundle", HOST)
    assert not bundle.needs()
    assert [y.tobytes() for y in bundle.run(*feeds)] == first, "the bundle has other bits"
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape and g.dtype == w.dtype
        assert np.abs(g - w).max() <= 1e-4 * np.abs(w).max()
    if not logits and NOALLOC.exists():  # without cmocka it is not
        r = subprocess.run([NOALLOC, tmp_path / "net.wick"], capture_output=True, text=True, timeout=600)
        assert r.returncode == 0, r.stdout + r.stderr
