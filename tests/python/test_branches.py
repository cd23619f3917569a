"""Sums of convolutions of one tensor, as they are in networks before their branches are merged, equal ONNX's reference."""
import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from built import PACKAGE  # noqa: E402, F401
import wick  # noqa: E402


class Block:
    """A sum of branches that read `x`, then a relu: sizes, windows, groups and the order of the sum are random."""

    def __init__(self, seed):
        self.r = np.random.default_rng(seed)
        self.nodes, self.constants = [], []
        axes = int(self.r.integers(1, 3))
        channels, features = (int(self.r.choice([4, 8])) for _ in range(2))
        self.stride = [int(self.r.integers(1, 3)) for _ in range(axes)]
        self.largest = [int(self.r.choice([1, 3, 5])) for _ in range(axes)]
        self.x = self.r.standard_normal([2, channels, *self.r.integers(5, 9, axes)]).astype("f")
        terms = [self.convolution(channels, features) for _ in range(self.r.integers(2, 5))]
        if channels == features and set(self.stride) == {1}:
            terms += [self.node("Mul", "x", self.constant([channels] + [1] * axes))] * int(self.r.integers(2))
            terms += ["x"] * int(self.r.integers(2))
        terms += [self.constant([1, features] + [1] * axes)] * int(self.r.integers(2))
        self.r.shuffle(terms)
        total = terms[0]
        for t in terms[1:]:
            total = self.node("Add", *([total, t] if self.r.integers(2) else [t, total]))
        self.nodes.append(helper.make_node("Relu", [total], ["y"]))

    def constant(self, shape):
        self.constants.append(numpy_helper.from_array(self.r.standard_normal(shape).astype("f"), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, op, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def convolution(self, channels, features):
        kernel = [int(self.r.choice([1, k, max(1, k - 2)])) for k in self.largest]
        dilation = [int(self.r.choice([1, 1, 2])) for _ in kernel]
        both = [d * (k - 1) for d, k in zip(dilation, kernel)]
        begin = [int(self.r.integers(b + 1)) if self.r.integers(3) == 0 else b // 2 for b in both]
        group = int(self.r.choice([1, 2, 4]))
        inputs = ["x", self.constant([features, channels // group, *kernel])]
        inputs += [self.constant([features])] * int(self.r.integers(2))
        return self.node("Conv", *inputs, strides=self.stride, dilations=dilation, group=group,
                         pads=begin + [b - a for a, b in zip(begin, both)])  # fmt: skip

    def model(self):
        info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "block", [info("x", self.x.shape)], [info("y", None)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        return onnx.shape_inference.infer_shapes(model)


@pytest.mark.parametrize("seed", range(60))
def test_sums_of_branches(seed):
    block = Block(seed)
    model = block.model()
    want = ReferenceEvaluator(model).run(None, {"x": block.x})[0]
    got = wick.InferenceSession(model.SerializeToString()).run(None, {"x": block.x})[0]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(want).max())
