"""Invalid models, by name, each with its message. A message names the user's node, what was found and what was
expected; nothing crashes, hangs or allocates memory that a size only claims."""
import os
import pathlib
import subprocess
import sys

import pytest

onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")
F, I = TensorProto.FLOAT, TensorProto.INT64
BIG = 1 << 62


def wick(*args, limit=60):
    return subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=limit)


def tensor(name, dims, kind=F, data=None):
    """An initializer; its bytes fit its dims unless others are given."""
    t = TensorProto(name=name, data_type=kind, dims=dims)
    size = {F: 4, I: 8, TensorProto.INT32: 4, TensorProto.BOOL: 1}.get(kind, 4)
    count = int(np.prod([max(d, 0) for d in dims], dtype=object))
    t.raw_data = bytes(count * size) if data is None else data
    return t


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(nodes, inputs=(), constants=(), outputs=("y",), opset=17):
    def info(name, dims=(), kind=F):
        return helper.make_tensor_value_info(name, kind, dims)

    out = []
    for name in outputs:  # without a type
        v = onnx.ValueInfoProto(name=name)
        out.append(v)
    g = helper.make_graph(nodes, "g", [info(*i) for i in inputs], out, list(constants))
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)


def node(op, inputs, name="n", output="y", **attrs):
    return helper.make_node(op, inputs.split(), output.split(), name=name, **attrs)


def conv(x=(1, 4, 8, 8), w=(8, 4, 3, 3), b=None, **attrs):
    return model([node("Conv", "x w b" if b is not None else "x w", **attrs)], [("x", x)],
                 [tensor("w", w)] + ([tensor("b", b)] if b is not None else []))


def pool(op="MaxPool", x=(1, 4, 8, 8), **attrs):
    return model([node(op, "x", **attrs)], [("x", x)])


def one(op, *inputs, constants=(), opset=17, **attrs):
    """A node on inputs a, b, ... of these shapes, and on constants."""
    names = "abcdefg"[: len(inputs)]
    nodes = [node(op, " ".join([*names, *(c.name for c in constants)]), **attrs)]
    return model(nodes, [(n, *(i if i and isinstance(i[0], tuple) else (i,))) for n, i in zip(names, inputs)], constants, opset=opset)


def weight(t):
    return model([node("Add", "x w")], [("x", (4,))], [t])


def kinds(key, value, seq=False):
    """The type of a map, or of a sequence of maps."""
    t = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))
    return helper.make_sequence_type_proto(t) if seq else t


def mapped(op, inputs, output=None, **attrs):
    """A node of ai.onnx.ml on x, of that type or shape."""
    t = inputs if isinstance(inputs, onnx.TypeProto) else helper.make_tensor_type_proto(F, inputs)
    nodes = [helper.make_node(op, ["x"], ["y"], name="n", domain="ai.onnx.ml", **attrs)] if op else []
    out = helper.make_value_info("y" if op else "x", output) if output else onnx.ValueInfoProto(name="y")
    g = helper.make_graph(nodes, "g", [helper.make_value_info("x", t)], [out])
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)


S = TensorProto.STRING
ZIPPED = kinds(I, F, seq=True)
NAMED = kinds(S, F)

CYCLE = model([node("Add", "x b", "first", "a"), node("Relu", "a", "second", "b")], [("x", (4,))], outputs=("b",))

HOSTILE = {
    # windows
    "conv stride 0": (conv(strides=[0, 1]), 'node "n" (Conv): strides has 0, expected 1 to 2147483647'),
    "conv stride negative": (conv(strides=[1, -1]), 'node "n" (Conv): strides has -1, expected 1 to 2147483647'),
    "conv stride huge": (conv(strides=[BIG, 1]), 'node "n" (Conv): strides has 4611686018427387904, expected 1 to 2147483647'),
    "conv too many strides": (conv(strides=[1, 1, 1]), 'node "n" (Conv): strides has 3 numbers, expected 2'),
    "conv dilation 0": (conv(dilations=[0, 1]), 'node "n" (Conv): dilations has 0, expected 1 to 2147483647'),
    "conv dilation huge": (conv(dilations=[1 << 31, 1]), 'node "n" (Conv): dilations has 2147483648, expected 1 to 2147483647'),
    "conv pad negative": (conv(pads=[0, 0, -1, 0]), 'node "n" (Conv): pads has -1, expected 0 to 2147483647'),
    "conv pad huge": (conv(pads=[BIG, 0, 0, 0]), 'node "n" (Conv): pads has 4611686018427387904, expected 0 to 2147483647'),
    "conv group 0": (conv(group=0), 'node "n" (Conv): group is 0, expected 1 to 1073741824'),
    "conv group negative": (conv(group=-4), 'node "n" (Conv): group is -4, expected 1 to 1073741824'),
    "conv group does not divide inputs": (conv(group=3), 'node "n" (Conv): x has 4 channels, w is for 3 groups of 4'),
    "conv group does not divide outputs": (conv(w=(9, 2, 3, 3), group=2), 'node "n" (Conv): 9 output channels in 2 groups'),
    "conv channels": (conv(w=(8, 5, 3, 3)), 'node "n" (Conv): x has 4 channels, w is for 1 groups of 5'),
    "conv rank of weights": (conv(w=(8, 4, 3)),
                             """node "n" (Conv): the input's rank is 4 and the weights' 3, expected the same, 3 or more"""),
    "conv rank of input": (conv(x=(4, 8)),
                           """node "n" (Conv): the input's rank is 2 and the weights' 4, expected the same, 3 or more"""),
    "conv bias of another size": (conv(b=(7,)), 'node "n" (Conv): bias is f32[7], expected [8]'),
    "conv bias of another rank": (conv(b=(8, 1)), 'node "n" (Conv): bias is f32[8,1], expected [8]'),
    "conv window larger than input": (conv(x=(1, 4, 2, 2)),
                                      'node "n" (Conv): the window reaches over 3 elements of dimension 2, which has 2 with its padding'),
    "conv dilated window larger than input": (conv(dilations=[4, 4]),
        'node "n" (Conv): the window reaches over 9 elements of dimension 2, which has 8 with its padding'),
    "conv kernel_shape differs": (conv(kernel_shape=[5, 5]), 'node "n" (Conv): kernel_shape has 5 for axis 0, the weights 3'),
    "conv kernel of no rows": (conv(w=(8, 4, 0, 3)),
                               'node "n" (Conv): the weights have 0 elements along axis 2, expected 1 or more'),
    "conv auto_pad unknown": (conv(auto_pad="SOME"),
                              'node "n" (Conv): auto_pad "SOME" is not one of: NOTSET VALID SAME_UPPER SAME_LOWER'),
    "conv_transpose output pad": (one("ConvTranspose", (1, 4, 8, 8), constants=[tensor("w", (4, 4, 3, 3))], output_padding=[-1, 0]),
                                  'node "n" (ConvTranspose): output_padding has -1, expected 0 to 2147483647'),
    "conv_transpose group": (one("ConvTranspose", (1, 4, 8, 8), constants=[tensor("w", (4, 4, 3, 3))], group=3),
                             'node "n" (ConvTranspose): 4 channels in 3 groups'),
    "pool kernel 0": (pool(kernel_shape=[0, 2]), 'node "n" (MaxPool): kernel_shape has 0, expected 1 to 2147483647'),
    "pool kernel negative": (pool(kernel_shape=[-1, 2]), 'node "n" (MaxPool): kernel_shape has -1, expected 1 to 2147483647'),
    "pool without kernel": (pool(), 'node "n" (MaxPool): attribute "kernel_shape" is missing'),
    "pool stride 0": (pool(kernel_shape=[2, 2], strides=[0, 0]), 'node "n" (MaxPool): strides has 0, expected 1 to 2147483647'),
    "pool larger than input": (pool(kernel_shape=[9, 9]),
                               'node "n" (MaxPool): the window reaches over 9 elements of dimension 2, which has 8 with its padding'),
    # shapes
    "reshape to another number": (one("Reshape", (2, 3), constants=[ints("s", 4, 2)]),
                                  'node "n" (Reshape): f32[2,3] does not fill [4,2]'),
    "reshape two unknown": (one("Reshape", (2, 3), constants=[ints("s", -1, -1)]), 'node "n" (Reshape): two dimensions are -1'),
    "reshape not divisible": (one("Reshape", (2, 3), constants=[ints("s", -1, 4)]),
                              'node "n" (Reshape): f32[2,3] does not fill [-1,4]'),
    "reshape negative": (one("Reshape", (2, 3), constants=[ints("s", -2, 3)]),
                         'node "n" (Reshape): f32[2,3] does not fill [-2,3]'),
    "reshape overflow": (one("Reshape", (2, 3), constants=[ints("s", BIG, BIG)]),
                         'node "n" (Reshape): f32[2,3] is not known to fill [4611686018427387904,4611686018427387904]'),
    "reshape zero of no dimension": (one("Reshape", (2, 3), constants=[ints("s", 2, 3, 0)]),
                                     'node "n" (Reshape): size 2 is to be copied (0), but the input has rank 2'),
    "reshape at run time": (one("Reshape", (2, 3), ((2,), I)),
                            'node "n" (Reshape): the shape must be known when the model is compiled'),
    "reshape by floats": (one("Reshape", (2, 3), (2,)),
                          'node "n" (Reshape): the shape is f32 of rank 1, expected a vector of integers'),
    "expand does not fit": (one("Expand", (2, 3), constants=[ints("s", 2, 4)]),
                            'node "n" (Expand): shapes do not broadcast: [2,3] and [2,4]'),
    "expand overflow": (one("Expand", (1, 1), constants=[ints("s", BIG, BIG)]),
                        'node "n" (Expand): the number of elements of the result overflows'),
    "broadcast": (one("Add", (2, 3), (2, 4)), 'node "n" (Add): shapes do not broadcast: f32[2,3] and f32[2,4]'),
    "types differ": (one("Add", (2,), ((2,), I)), 'node "n" (Add): operand 1 is i64, expected f32'),
    "matmul inner": (one("MatMul", (2, 3), (4, 5)), 'node "n" (MatMul): inner sizes differ: 3 and 4'),
    "gemm inner": (one("Gemm", (2, 3), (3, 5), transB=1), 'node "n" (Gemm): inner sizes differ: 3 and 5'),
    "concat other dims": (one("Concat", (2, 3), (3, 3), axis=1),
                          'node "n" (Concat): operand 1, f32[3,3], does not fit f32[2,3] along axis 1'),
    "concat ranks": (one("Concat", (2, 3), (2, 3, 1), axis=1),
                     'node "n" (Concat): operand 1, f32[2,3,1], does not fit f32[2,3] along axis 1'),
    "concat axis": (one("Concat", (2, 3), (2, 3), axis=2), 'node "n" (Concat): axis 2 is outside [-2, 1]'),
    "concat types": (one("Concat", (2, 3), ((2, 3), I), axis=0), 'node "n" (Concat): operand 1 is i64, expected f32'),
    "concat of nothing": (one("Concat", axis=0), 'node "n" (Concat): it has 0 inputs, expected 1 to 255'),
    "split sizes": (one("Split", (6,), constants=[ints("s", 2, 2)], output="y z"),
                    'node "n" (Split): the parts have 4 elements together, the axis 6'),
    "split negative": (one("Split", (6,), constants=[ints("s", 8, -2)], output="y z"),
                       'node "n" (Split): dimension 0 of the result is negative or overflows'),
    "flatten axis": (one("Flatten", (2, 3), axis=3), 'node "n" (Flatten): axis 3 is outside [-2, 2]'),
    "softmax axis": (one("Softmax", (2, 3), axis=2), 'node "n" (Softmax): axis 2 is outside [-2, 1]'),
    "reduce axis": (one("ReduceMax", (2, 3), axes=[-3]), 'node "n" (ReduceMax): axis -3 is outside [-2, 1]'),
    "reduce axis twice": (one("ReduceMax", (2, 3), axes=[1, -1]), 'node "n" (ReduceMax): axis 1 occurs twice'),
    "squeeze of size 3": (one("Squeeze", (2, 3), constants=[ints("s", 1)]), 'node "n" (Squeeze): axis 1 is of size 3, expected 1'),
    "unsqueeze axis twice": (one("Unsqueeze", (2, 3), constants=[ints("s", 0, 0)]),
                             'node "n" (Unsqueeze): axis 0 occurs twice'),
    "transpose twice the same": (one("Transpose", (2, 3), perm=[0, 0]), 'node "n" (Transpose): perm: 0 occurs twice'),
    "transpose outside": (one("Transpose", (2, 3), perm=[0, 2]), 'node "n" (Transpose): perm: 2 is not a dimension of x'),
    "transpose too short": (one("Transpose", (2, 3), perm=[0]), 'node "n" (Transpose): perm has 1 numbers, x has rank 2'),
    "slice step 0": (one("Slice", (8,), constants=[ints("b", 0), ints("e", 4), ints("x", 0), ints("s", 0)]),
                     'node "n" (Slice): the step of axis 0 is 0'),
    "slice axis": (one("Slice", (8,), constants=[ints("b", 0), ints("e", 4), ints("x", 1)]),
                   'node "n" (Slice): axis 1 is outside [-1, 0]'),
    "slice lists differ": (one("Slice", (8,), constants=[ints("b", 0, 0), ints("e", 4)]),
                           'node "n" (Slice): starts, ends and steps have 2, 1 and 0 numbers'),
    "pad count": (one("Pad", (2, 3), constants=[ints("p", 1, 1)]), 'node "n" (Pad): pads has 2 numbers, expected 4'),
    "pad takes more than there is": (one("Pad", (2, 3), constants=[ints("p", 0, -2, 0, -2)]),
                                     'node "n" (Pad): dimension 1 of the result is negative or overflows'),
    "pad huge": (one("Pad", (2, 3), constants=[ints("p", BIG, BIG, BIG, BIG)]),
                 'node "n" (Pad): dimension 0 of the result is negative or overflows'),
    "constant of shape negative": (one("ConstantOfShape", constants=[ints("s", -2, 3)], value=helper.make_tensor("v", I, [1], [7])),
                                   'node "n" (ConstantOfShape): dimension 0 of the result is negative or overflows'),
    "tile negative": (one("Tile", (2, 3), constants=[ints("r", -1, 2)]),
                      'node "n" (Tile): dimension 0 of the result is negative or overflows'),
    "tile overflow": (one("Tile", (2, 3), constants=[ints("r", BIG, BIG)]),
                      'node "n" (Tile): dimension 0 of the result is negative or overflows'),
    "gather constant index": (one("Gather", (4,), constants=[ints("i", 4)]), 'node "n" (Gather): index 4 is outside [-4, 3]'),
    "gather constant index negative": (one("Gather", (4,), constants=[ints("i", -5)]),
                                       'node "n" (Gather): index -5 is outside [-4, 3]'),
    "gather axis": (one("Gather", (4,), constants=[ints("i", 0)], axis=1), 'node "n" (Gather): axis 1 is outside [-1, 0]'),
    "gather by floats": (one("Gather", (4,), (2,)), 'node "n" (Gather): the indices are f32, expected integers'),
    "depth to space": (one("DepthToSpace", (1, 6, 2, 2), blocksize=2), 'node "n" (DepthToSpace): 6 channels in blocks of 4'),
    "depth to space 0": (one("DepthToSpace", (1, 4, 2, 2), blocksize=0),
                         'node "n" (DepthToSpace): block is 0, expected 1 to 32768'),
    "batch norm sizes": (one("BatchNormalization", (1, 4, 2), constants=[tensor(n, (3,)) for n in ("s", "b2", "m", "v")]),
                         'node "n" (BatchNormalization): scale is f32[3], expected [4]'),
    "lrn size 0": (one("LRN", (1, 4, 2, 2), size=0), 'node "n" (LRN): size is 0, expected 1 to 1073741824'),
    "resize scale 0": (one("Resize", (1, 1, 4, 4),
                            constants=[tensor("roi", (0,)), numpy_helper.from_array(np.array([1, 1, 0, 1], np.float32), "s")]),
                       'node "n" (Resize): the scale of axis 2 is 0'),
    "top k larger": (one("TopK", (4,), constants=[ints("k", 5)], output="y z"),
                     'node "n" (TopK): the first 5 of 4 elements'),
    "stft window no row": (model([node("STFT", "x step w")], [("x", (1, 8, 1))],
                                 [ints("step", 2), tensor("w", ())]),
                           'node "n" (STFT): its rank is 3, expected 3 and a window of rank 1'),
    "dft of a number": (one("DFT", ()), 'node "n" (DFT): axis 1 is outside [0, -1]'),
    "rotary table of rank 0": (one("RotaryEmbedding", (1, 2, 8), (), (), opset=23, num_heads=2),
                               'node "n" (RotaryEmbedding): ranks 3 and 0, expected 3 or 4, and 1 or more'),
    "causal kernel of no taps": (one("CausalConvWithState", (1, 2, 4), (2, 1, 0), opset=27, output="y z"),
                                 'node "n" (CausalConvWithState): ranks 3 and 3'),
    "attention heads": (one("Attention", (1, 2, 9), (1, 2, 8), (1, 2, 8), opset=23, q_num_heads=2, kv_num_heads=2),
                        'node "n" (Attention): rank 3 and 2 heads, expected 3 and a divisor of the last size'),
    "einsum labels": (one("Einsum", (2, 3), equation="abc->a"),
                      'node "n" (Einsum): the equation does not have a label for each axis'),
    "einsum terms": (one("Einsum", (2, 3), equation="ab,bc->a"), 'node "n" (Einsum): the equation has too many terms'),
    "scatter reduction": (one("ScatterElements", (4,), ((4,), I), (4,), opset=18, reduction="mean"),
                          'node "n" (ScatterElements): reduction "mean" is not one of: none add mul max min'),
    "loss ranks": (one("NegativeLogLikelihoodLoss", (2, 3), ((2, 3), I)),
                   'node "n" (NegativeLogLikelihoodLoss): ranks 2 and 2, expected at least 2, and one less'),
    "one hot depth": (one("OneHot", ((4,), I), constants=[ints("d", -1), tensor("v", (2,))]),
                      'node "n" (OneHot): dimension 1 of the result is negative or overflows'),
    "range step 0": (model([node("Range", "b e s")], [], [ints("b", 0), ints("e", 4), ints("s", 0)]),
                     'node "n" (Range): start, limit and delta are not one number each, delta not 0'),
    "constant of shape huge": (model([node("ConstantOfShape", "s"), node("Relu", "y", "m", "z")], [], [ints("s", BIG, 4)], ("z",)),
                               'node "n" (ConstantOfShape): the number of elements of the result overflows'),
    # names, types, bytes
    "name twice": (model([node("Relu", "x"), node("Abs", "x", "m")], [("x", (4,))]),
                   'node "m" (Abs): "y" is defined a second time'),
    "initializer twice": (model([node("Add", "w w")], [], [tensor("w", (4,)), tensor("w", (4,))]),
                          'initializer 1, "w", has no name or is defined a second time'),
    "cycle": (CYCLE, 'nodes depend on each other in a cycle: "second" (Relu), "first" (Add)'),
    "node uses itself": (model([node("Add", "x y")], [("x", (4,))]),
                         'a node depends on itself: "n" (Add)'),
    "input missing": (model([node("Add", "x q")], [("x", (4,))]),
                      'node "n" (Add): the input "q" is not defined before it is used'),
    "output missing": (model([node("Relu", "x")], [("x", (4,))], outputs=("y", "q")),
                       'output "q": the value "q" is not defined before it is used'),
    "no outputs": (model([node("Relu", "x")], [("x", (4,))], outputs=()), "the graph has no outputs"),
    "too few operands": (one("Add", (4,)), 'node "n" (Add): it has 1 inputs, expected 2'),
    "too many operands": (one("Relu", (4,), (4,)), 'node "n" (Relu): it has 2 inputs, expected 1'),
    "operator unknown": (one("Reluu", (4,)), 'node "n" (Reluu): the operator Reluu is not supported'),
    "attribute unknown": (one("Relu", (4,), alpha=1.0), 'node "n" (Relu): there is no attribute "alpha" in opset 17'),
    "attribute of another kind": (one("Softmax", (2, 3), axis=1.0),
                                  'node "n" (Softmax): attribute "axis" is a float, expected an integer'),
    "dtype unknown": (weight(tensor("w", (4,), 99)), 'initializer "w": elements of type 99 are not supported'),
    "dtype missing": (weight(tensor("w", (4,), 0)), 'initializer "w": elements of type UNDEFINED are not supported'),
    "input dtype unknown": (model([node("Relu", "x")], [("x", (4,), 77)]), 'input "x": elements of type 77 are not supported'),
    "bytes too few": (weight(tensor("w", (4,), data=bytes(15))), 'initializer "w": its data has 15 bytes, but its shape requires 16'),
    "bytes too many": (weight(tensor("w", (4,), data=bytes(17))), 'initializer "w": its data has 17 bytes, but its shape requires 16'),
    "bytes none": (weight(tensor("w", (4,), data=b"")), 'initializer "w": its data has 0 bytes, but its shape requires 16'),
    "dims negative": (weight(tensor("w", (-4,), data=bytes(16))), 'initializer "w": dimension 0 is -4'),
    "dims overflow": (weight(tensor("w", (BIG, BIG), data=bytes(16))),
                      'initializer "w": the product of its dimensions overflows'),
    "dims claim terabytes": (weight(tensor("w", (1 << 40,), data=bytes(16))),
                             'initializer "w": its data has 16 bytes, but its shape requires 4398046511104'),
    "rank too large": (weight(tensor("w", (1,) * 17)), 'initializer "w": its rank is 17, the most is 16'),
    "input dims overflow": (model([node("Relu", "x")], [("x", (BIG, 8))]), 'input "x": the product of its dimensions overflows'),
    "opset of tomorrow": (one("Relu", (4,), opset=99), "opset 99 is outside 1 to 28"),
    # maps
    "zip_map labels": (mapped("ZipMap", (2, 3), ZIPPED, classlabels_int64s=[1, 2]), 'node "n" (ZipMap): its input is f32[2,3], there are 2 labels'),
    "zip_map labels twice": (mapped("ZipMap", (2, 3), ZIPPED, classlabels_int64s=[1, 2, 1]), 'node "n" (ZipMap): the label 1 occurs twice'),
    "zip_map strings twice": (mapped("ZipMap", (2, 2), ZIPPED, classlabels_strings=["a", "a"]), 'node "n" (ZipMap): the label "a" occurs twice'),
    "zip_map no labels": (mapped("ZipMap", (2, 3), ZIPPED), 'node "n" (ZipMap): neither classlabels_int64s nor classlabels_strings has keys'),
    "zip_map both labels": (mapped("ZipMap", (2, 1), ZIPPED, classlabels_strings=["a"], classlabels_int64s=[1]),
                            'node "n" (ZipMap): both classlabels_int64s and classlabels_strings have keys'),
    "zip_map no text": (mapped("ZipMap", (2, 1), ZIPPED, classlabels_strings=[b"\xff"]), 'is not UTF-8'),
    "zip_map rank": (mapped("ZipMap", (2, 1, 3), ZIPPED, classlabels_int64s=[1, 2, 3]),
                     'node "n" (ZipMap): its input is f32 of rank 3, expected f32 of rank 1 or 2'),
    "zip_map of a map": (mapped("ZipMap", NAMED, ZIPPED, classlabels_int64s=[1]), 'node "n" (ZipMap): input 0 is a map, or a sequence of maps'),
    "zip_map not said": (mapped("ZipMap", (2, 2), classlabels_int64s=[1, 2]), 'output "y": it is a sequence of maps, but the model declares another type'),
    "zip_map a tensor is said": (mapped("ZipMap", (2, 2), helper.make_tensor_type_proto(F, None), classlabels_int64s=[1, 2]),
                                 'output "y": it is a sequence of maps, but the model declares another type'),
    "zip_map other keys": (mapped("ZipMap", (2, 2), ZIPPED, classlabels_strings=["a", "b"]),
                           'output "y": it is seq(map(string,f32)), but the model declares seq(map(i64,f32))'),
    "zip_map one map is said": (mapped("ZipMap", (1, 2), kinds(I, F), classlabels_int64s=[1, 2]),
                                'output "y": it is seq(map(i64,f32)), but the model declares map(i64,f32)'),
    "a map is said": (mapped("Binarizer", (1, 2), kinds(I, F)), 'output "y": it is a tensor, but the model declares another type'),
    "dict_vectorizer of a tensor": (mapped("DictVectorizer", (2,), int64_vocabulary=[1]), 'node "n" (DictVectorizer): its input is a tensor, expected a map'),
    "dict_vectorizer no vocabulary": (mapped("DictVectorizer", NAMED),
                                      'node "n" (DictVectorizer): neither int64_vocabulary nor string_vocabulary has keys'),
    "dict_vectorizer other keys": (mapped("DictVectorizer", NAMED, int64_vocabulary=[1]),
                                   'node "n" (DictVectorizer): its input has keys of type string, its vocabulary is of type i64'),
    "cast_map of strings": (mapped("CastMap", NAMED), 'node "n" (CastMap): its input is map(string,f32), expected map(i64,f32) or map(i64,string)'),
    "cast_map nothing": (mapped("CastMap", kinds(I, F), map_form="SPARSE", max_map=0), 'node "n" (CastMap): max_map is 0, expected 1 to 1048576'),
    "cast_map negative": (mapped("CastMap", kinds(I, F), map_form="SPARSE", max_map=-1), 'node "n" (CastMap): max_map is -1, expected 1 to 1048576'),
    "cast_map huge": (mapped("CastMap", kinds(I, F), map_form="SPARSE", max_map=BIG), 'node "n" (CastMap): max_map is 4611686018427387904'),
    "cast_map word": (mapped("CastMap", kinds(I, F), cast_to="FLOAT"), 'node "n" (CastMap): cast_to "FLOAT" is not one of: TO_FLOAT TO_STRING TO_INT64'),
    "map of other keys": (mapped("", kinds(TensorProto.INT32, F), kinds(TensorProto.INT32, F)), 'input "x": its keys are i32, expected i64 or string'),
    "sequence of maps": (mapped("", ZIPPED, ZIPPED), 'input "x": sequences of maps are supported only as outputs'),
    "map of maps": (mapped("", helper.make_map_type_proto(I, NAMED), NAMED), 'input "x": of maps only those to numbers or strings are supported'),
    "optional map": (mapped("", helper.make_optional_type_proto(NAMED), NAMED), 'input "x": of optionals only those of tensors and their sequences are supported'),
    "map in an operator": (model([helper.make_node("ZipMap", ["x"], ["z"], domain="ai.onnx.ml", classlabels_int64s=[1, 2]), node("Relu", "z")], [("x", (1, 2))]),
                           'node "n" (Relu): input 0 is a map, or a sequence of maps'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_refused(name, tmp_path):
    m, want = HOSTILE[name]
    (tmp_path / "m.onnx").write_bytes(m.SerializeToString())
    r = wick("check", tmp_path / "m.onnx")
    assert r.returncode == 1 and not r.stdout, (r.returncode, r.stdout)
    assert r.stderr.startswith("m.onnx: ") and want in r.stderr, r.stderr


def test_all_at_once(tmp_path):
    """Several errors are each reported once; nodes after a bad one are not blamed for it."""
    nodes = [node("Conv", "x w", "a", "a", strides=[0, 1]), node("Relu", "a", "fine", "b"), node("Reshape", "x s", "c", "c"),
             node("Softmax", "x", "d", "d", axis=9), node("Reluu", "x", "e", "e"), node("Add", "b c", "fine too", "y")]
    m = model(nodes, [("x", (1, 4, 8, 8))], [tensor("w", (8, 4, 3, 3)), ints("s", 3, 3), tensor("v", (2,), data=bytes(3))])
    (tmp_path / "m.onnx").write_bytes(m.SerializeToString())
    r = wick("check", tmp_path / "m.onnx")
    assert r.returncode == 1
    assert r.stderr.splitlines() == [
        'm.onnx: initializer "v": its data has 3 bytes, but its shape requires 8',
        'm.onnx: node "a" (Conv): strides has 0, expected 1 to 2147483647 (ai.onnx, opset 17)',
        'm.onnx: node "c" (Reshape): f32[1,4,8,8] does not fill [3,3] (ai.onnx, opset 17)',
        'm.onnx: node "d" (Softmax): axis 9 is outside [-4, 3] (ai.onnx, opset 17)',
        'm.onnx: node "e" (Reluu): the operator Reluu is not supported (ai.onnx, opset 17)']


# ---- at run time ----

def run(folder, m, *inputs):
    """The command's result, and the outputs if it ran."""
    (folder / "m.onnx").write_bytes(m.SerializeToString())
    files = []
    for k, x in enumerate(inputs):
        files.append(folder / f"x{k}.npy")
        np.save(files[-1], x)
    r = wick("run", folder / "m.onnx", *(["--inputs", *files] if files else []), "-o", folder / "out", "--no-cache")
    return r, [np.load(f) for f in sorted((folder / "out").glob("*.npy"))] if r.returncode == 0 else None


X4, OUTSIDE = np.arange(4, dtype=np.float32), "is out of bounds"
AT_RUN = {
    "gather": (one("Gather", (4,), ((3,), I)), (X4, np.array([1, 4, -9])), f'node "n" (Gather): index 4 {OUTSIDE}'),
    "gather negative": (one("Gather", (4,), ((3,), I)), (X4, np.array([1, -4, -5])), f'node "n" (Gather): index -5 {OUTSIDE}'),
    "gather from nothing": (one("Gather", (0,), ((1,), I)), (X4[:0], np.array([0])), f'node "n" (Gather): index 0 {OUTSIDE}'),
    "gather elements": (one("GatherElements", (4,), ((2,), I)), (X4, np.array([0, 9])),
                        f'node "n" (GatherElements): index 9 {OUTSIDE}'),
    "gather nd": (one("GatherND", (4, 2), ((2, 1), I)), (np.zeros((4, 2), np.float32), np.array([[3], [7]])),
                  f'node "n" (GatherND): index 7 {OUTSIDE}'),
    "division": (one("Div", ((3,), I), ((3,), I)), (np.array([1, 4, 9]), np.array([1, 0, 1])),
                 'node "n" (Div): element 1 of the result: division by zero'),
    "memory": (one("Expand", (1,), constants=[ints("s", 1 << 45)]), (X4[:1],), "out of memory"),
    "shape of the input": (one("Relu", (4,)), (X4[:3],), 'input "a"'),
    "type of the input": (one("Relu", (4,)), (X4.astype(np.float64),), 'input "a"'),
}


@pytest.mark.parametrize("name", AT_RUN)
def test_refused_at_run_time(name, tmp_path):
    m, inputs, want = AT_RUN[name]
    r, _ = run(tmp_path, m, *inputs)
    assert r.returncode == 1 and want in r.stderr, r.stderr


# ---- nothing is something ----

N = np.zeros
EMPTY = {
    "reshape": (one("Reshape", (0, 3, 4), constants=[ints("s", 3, 4, 0)], allowzero=1), [N((0, 3, 4))], N((3, 4, 0))),
    "identity": (one("Identity", (0, 3)), [N((0, 3))], N((0, 3))),
    "relu": (one("Relu", (0, 3)), [N((0, 3))], N((0, 3))),
    "concat": (one("Concat", (2, 0), (2, 3), axis=1), [N((2, 0)), N((2, 3)) + 1], N((2, 3)) + 1),
    "sum": (one("ReduceSum", (0, 3), constants=[ints("s", 0)], keepdims=0), [N((0, 3))], N(3)),
    "max": (one("ReduceMax", (2, 0), axes=[1]), [N((2, 0))], np.full((2, 1), -np.inf)),
    "matmul over nothing": (one("MatMul", (2, 0), (0, 3)), [N((2, 0)), N((0, 3))], N((2, 3))),
    "matmul of nothing": (one("MatMul", (0, 2), (2, 3)), [N((0, 2)), N((2, 3))], N((0, 3))),
    "transpose": (one("Transpose", (2, 0, 3)), [N((2, 0, 3))], N((3, 0, 2))),
    "conv": (conv(x=(0, 4, 8, 8)), [N((0, 4, 8, 8))], N((0, 8, 6, 6))),
    "pool": (pool(x=(0, 4, 8, 8), kernel_shape=[2, 2]), [N((0, 4, 8, 8))], N((0, 4, 7, 7))),
    "softmax": (one("Softmax", (2, 0)), [N((2, 0))], N((2, 0))),
    "slice": (one("Slice", (8,), constants=[ints("b", 4), ints("e", 2)]), [N(8)], N(0)),
    "expand": (one("Expand", (2, 1), constants=[ints("s", 2, 0)]), [N((2, 1))], N((2, 0))),
    "pad": (one("Pad", (0,), constants=[ints("p", 1, 2)]), [N(0)], N(3)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_without_elements(name, tmp_path):
    m, inputs, want = EMPTY[name]
    r, got = run(tmp_path, m, *[x.astype(np.float32) for x in inputs])
    assert r.returncode == 0, r.stderr
    assert got[0].shape == want.shape and np.array_equal(got[0], want.astype(np.float32))


def test_bundle_without_elements(tmp_path):
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "bundle"))
    from bundles import HOST, Bundle
    (tmp_path / "m.onnx").write_bytes(EMPTY["reshape"][0].SerializeToString())
    assert Bundle(tmp_path / "m.onnx", tmp_path / "bundle", HOST).run(N((0, 3, 4), np.float32))[0].shape == (3, 4, 0)
