"""ONNX's own cases for single operators, by wick.backend: those of operators that are composed."""

import re

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
node_cases = pytest.importorskip("onnx.backend.test.case.node")

import built  # noqa: E402, F401: finds the package
from wick import backend  # noqa: E402

FAMILIES = ("adagrad|adam|momentum|nesterov|affine_grid|attention|blackman|hamming|hann|causal_conv|cumprod|dft|"
            "einsum|gridsample|linear_attention|melweight|nllloss|reversesequence|rotary|scatter|sce_|stft|"
            "tensorscatter|top_k")
# Their expected values come from a softmax that rounds each of its steps and sums to 16 bits; Wick rounds its result.
STEPS = {"bf16": 2.0**-6}
# What they are composed of in ONNX is another test's; and these need `If` or data-dependent sizes.
OTHERS = re.compile("_expanded|flexattention")


def cases():
    for case in node_cases.collect_testcases(None):
        if re.search(FAMILIES, case.name) and not OTHERS.search(case.name):
            yield pytest.param(case, id=case.name)


def plain(x):
    return onnx.numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else x


@pytest.mark.parametrize("case", list(cases()))
def test_case(case):
    rep = backend.prepare(case.model, cache="")
    for inputs, outputs in case.data_sets:
        got = rep.run([plain(i) for i in inputs])
        assert len(got) == len(outputs)
        for g, w in zip(got, map(plain, outputs)):
            assert (g.dtype, g.shape) == (w.dtype, w.shape)
            wide = (lambda a: a.astype(np.float64)) if w.dtype.kind != "c" else (lambda a: a)
            rtol = STEPS.get(case.name[-4:], case.rtol) if "attention" in case.name else case.rtol
            np.testing.assert_allclose(wide(g), wide(w), rtol=rtol, atol=case.atol)
