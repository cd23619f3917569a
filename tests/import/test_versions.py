"""Every schema version of every operator: ONNX's own cases written for older opsets, against ONNX Runtime if it has
the version, else against ONNX's reference evaluator.

The first case of each version; with WICK_VERSIONS_ALL=1 all of them, some minutes."""
import collections
import os
import pathlib
import re
import sys

import pytest

onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
ort = pytest.importorskip("onnxruntime")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import onnx_versions  # noqa: E402

import built  # noqa: E402, F401: finds the package
from wick import backend  # noqa: E402

MOST = 10**6 if os.environ.get("WICK_VERSIONS_ALL") else 1
# Random results have no expected values; tests of the operator check Wick's bits.
DRAWN = re.compile("Random|Bernoulli|Multinomial|Dropout")


def runtime(model, feeds):
    if model.graph.node[0].op_type == "MaxUnpool":
        return None  # with output_shape it puts the positions of the smaller result into the larger one
    options = ort.SessionOptions()
    options.log_severity_level = 4
    try:
        s = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return s.run(None, {i.name: np.asarray(x) for i, x in zip(s.get_inputs(), feeds)})
    except Exception:
        return None


def reference(model, feeds):
    if model.graph.node[0].op_type == "AveragePool":
        return None  # it counts the padding, which version 1 does not
    from onnx.reference import ReferenceEvaluator
    try:
        return ReferenceEvaluator(model).run(None, {i.name: x for i, x in zip(model.graph.input, feeds)})
    except Exception:
        return None


def difference(got, want, rtol, atol):
    got, want = np.asarray(got), np.asarray(want)
    if want.dtype.kind == "U":
        want = want.astype(object)
    if want.dtype == np.uint8 and got.dtype.kind == "V":
        want = want.view(got.dtype)  # ONNX Runtime has no 8-bit floats of NumPy
    if str(want.dtype) == "bfloat16":
        rtol = max(rtol, 2**-7)
    text = got.dtype.kind in "OU" and want.dtype.kind in "OU"
    if got.shape != want.shape or (got.dtype != want.dtype and not text):
        return f"{got.dtype} {got.shape}, expected {want.dtype} {want.shape}"
    if want.dtype == object or want.dtype.kind in "USbiu":
        return None if (got == want).all() else "other values"
    got, want = (x if x.dtype.kind == "c" else x.astype("f8") for x in (got, want))
    return None if np.allclose(got, want, rtol=rtol, atol=atol, equal_nan=True) else f"{got.ravel()[:4]}, expected {want.ravel()[:4]}"


def chosen():
    """(schema, name, model, feeds, expected or None, tolerances), the first of each version."""
    seen = collections.Counter()
    for schema, name, model, feeds, want, tolerances in onnx_versions.cases():
        key = schema.domain, schema.name, schema.since_version
        seen[key] += 1
        if seen[key] <= MOST:
            yield schema, name, model, feeds, want, tolerances
    for schema, name, model, feeds in onnx_versions.by_hand():
        yield schema, name, model, feeds, None, (1e-3, 1e-5)


# Transforms of ONNX Runtime round more than Wick's sums.
LOOSE = {"DFT": 1e-3, "STFT": 1e-3}


@pytest.fixture(scope="module")
def blocks():
    found = [[] for _ in range(8)]
    for k, case in enumerate(chosen()):
        found[k % 8].append(case)
    return found


@pytest.mark.parametrize("block", range(8))
def test_versions(blocks, block):
    wrong, compared = [], 0
    for schema, name, model, feeds, want, (rtol, atol) in blocks[block]:
        label = f"{schema.domain or 'ai.onnx'} {schema.name} {schema.since_version} ({name})"
        try:
            got = list(backend.prepare(model, "CPU", cache="").run(feeds))
        except Exception as e:
            if not backend_lacks(str(e)):
                wrong.append(f"{label}: {str(e).splitlines()[0]}")
            continue
        if DRAWN.search(schema.name):
            continue
        expected = runtime(model, feeds)
        expected = reference(model, feeds) if expected is None else expected
        if expected is None:
            continue
        compared += 1
        for g, w in zip(got, expected):
            if why := difference(g, w, rtol, max(atol, LOOSE.get(schema.name, 0))):
                wrong.append(f"{label}: {why}")
    assert not wrong, "\n".join(wrong)
    assert compared > 20


def backend_lacks(message):
    """It is said to be unsupported, which is `docs/onnx.md`'s matter."""
    return "not supported" in message or "is not an operator of opset" in message
