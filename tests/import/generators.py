"""Small decoders that generate text, for searches of com.microsoft: an embedding of words and positions, and one layer
of attention with a cache."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper


def constants(d, words, heads, size, positions):
    h = heads * size
    f = lambda n, *shape: numpy_helper.from_array(d.f(*shape), n)  # noqa: E731
    return [f("wte", words, h), f("wpe", positions, h), f("w", h, 3 * h), f("b", 3 * h), f("head", h, words)]


def decoder(d, words, heads, size, positions=64):
    """The graph: ids, positions, a mask and a cache; numbers for each word, and the cache."""
    n = helper.make_node
    nodes = [n("Gather", ["wte", "input_ids"], ["e"]), n("Gather", ["wpe", "position_ids"], ["p"]), n("Add", ["e", "p"], ["x"]),
             n("Attention", ["x", "w", "b", "attention_mask", "past_0"], ["y", "present_0"], domain="com.microsoft", num_heads=heads, unidirectional=1),
             n("Add", ["x", "y"], ["z"]), n("MatMul", ["z", "head"], ["logits"])]
    i, f = TensorProto.INT32, TensorProto.FLOAT
    v = helper.make_tensor_value_info
    inputs = [v("input_ids", i, ["B", "S"]), v("position_ids", i, ["B", "S"]), v("attention_mask", i, ["B", "T"]), v("past_0", f, [2, "B", heads, "P", size])]
    return helper.make_graph(nodes, "decoder", inputs, [v("logits", f, ["B", "S", words]), v("present_0", f, [2, "B", heads, "T", size])],
                             constants(d, words, heads, size, positions))
