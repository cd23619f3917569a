"""ImageDecoder: ONNX's own cases to the bit, whose values are Pillow's; and files that were cut and changed."""

import pytest

onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
from onnx.backend.test.case.node import collect_testcases  # noqa: E402
from wick import backend  # noqa: E402

CASES = [t for t in collect_testcases("ImageDecoder") if t.name.startswith("test_image_decoder")]


@pytest.mark.parametrize("case", CASES, ids=lambda t: t.name)
def test_cases(case):
    (inputs, outputs), = case.data_sets
    got, = backend.prepare(case.model).run(inputs)
    np.testing.assert_array_equal(got, outputs[0])


@pytest.mark.parametrize("case", CASES, ids=lambda t: t.name)
def test_damaged_files(case):
    rng = np.random.default_rng(11)
    bytes_ = case.data_sets[0][0][0]
    for k in range(6):
        x = bytes_.copy()
        if k % 3 == 0:
            x[int(rng.integers(1, len(x))):] = 0
        for at in rng.integers(0, len(x), 1 + k):
            x[at] = rng.integers(256)
        try:
            got, = backend.prepare(case.model).run([x])
            assert got.dtype == np.uint8 and got.ndim == 3
        except wick.WickError as e:
            assert "ImageDecoder" in str(e) or "image" in str(e)
