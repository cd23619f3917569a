"""Sparse initializers and sparse_value of Constant: the dense tensors that they stand for."""
import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto as T  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402


def sparse(dense, linear, name="w", elem=None):
    where = np.argwhere(dense) if dense.dtype != object else np.argwhere(dense != "")
    values = dense[tuple(where.T)]
    elem = elem or helper.np_dtype_to_tensor_dtype(values.dtype)
    flat = np.ravel_multi_index(tuple(where.T), dense.shape) if len(where) else np.zeros(0, np.int64)
    indices = np.asarray(flat if linear else where, np.int64)
    v = helper.make_tensor(name, elem, [len(values)], [x.encode() if isinstance(x, str) else x for x in values.tolist()])
    return helper.make_sparse_tensor(v, numpy_helper.from_array(indices, name + "_indices"), list(dense.shape))


def result(*tensors, attribute=False, cast=None):
    nodes = [helper.make_node("Cast", ["w"], ["y"], to=cast) if cast else helper.make_node("Identity", ["w"], ["y"])]
    if attribute:
        nodes.insert(0, helper.make_node("Constant", [], ["w"], "c", sparse_value=tensors[0]))
    graph = helper.make_graph(nodes, "g", [], [onnx.ValueInfoProto(name="y")],
                              sparse_initializer=[] if attribute else list(tensors))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return wick.InferenceSession(model.SerializeToString()).run(None, {})[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64,
                                   np.uint64, np.bool_, object])
@pytest.mark.parametrize("shape", [(6,), (3, 4), (2, 3, 4), (1, 1), (2, 1, 3, 2)])
@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("attribute", [True, False])
def test_types_and_shapes(dtype, shape, linear, attribute):
    dense = np.random.default_rng(4).integers(0, 3, shape)
    dense = np.array([["", "a", "bc"][i] for i in dense.ravel()], object).reshape(shape) if dtype is object else dense.astype(dtype)
    got = result(sparse(dense, linear, elem=T.STRING if dtype is object else None), attribute=attribute)
    assert got.shape == dense.shape and (dtype is object or got.dtype == dense.dtype)
    assert (got.astype(str) == dense.astype(str)).all() if dtype is object else (got == dense).all()


def test_narrow_elements():
    for elem, size in ((T.INT4, 7), (T.UINT4, 6), (T.BFLOAT16, 5)):
        dense = np.zeros(size, np.float32)
        dense[[1, 2, 4]] = [3, 1, 2]
        np.testing.assert_array_equal(result(sparse(dense.astype(int) if elem != T.BFLOAT16 else dense, True, elem=elem), cast=T.FLOAT), dense)


def test_complex():
    dense = np.array([[0, 1 + 2j, 0], [-3j, 0, 4]], np.complex64)
    np.testing.assert_array_equal(result(sparse(dense, True)), dense)


def test_nothing_in_it():
    np.testing.assert_array_equal(result(sparse(np.zeros((2, 3), np.float32), True)), np.zeros((2, 3), np.float32))
    np.testing.assert_array_equal(result(sparse(np.zeros((2, 3), np.float32), False)), np.zeros((2, 3), np.float32))


def made(values, indices, dims, shape=None):
    indices = np.asarray(indices, np.int64)
    return helper.make_sparse_tensor(numpy_helper.from_array(np.asarray(values, np.float32), "w"),
                                     numpy_helper.from_array(indices.reshape(shape) if shape else indices, "i"), dims)


@pytest.mark.parametrize("tensor,said", [
    (made([1, 2], [0, 6], [2, 3]), r"index 6 of value 1 is outside \[0, 6\)"),
    (made([1, 2], [-1, 2], [2, 3]), r"index -1 of value 0"),
    (made([1, 2], [[0, 0], [0, 3]], [2, 3]), r"index 3 of value 1 is outside \[0, 3\)"),
    (made([1, 2], [2, 1], [2, 3]), "do not ascend, at value 1"),
    (made([1, 2], [1, 1], [2, 3]), "do not ascend"),
    (made([1, 2], [1], [2, 3]), r"values \[n\] and indices \[n\] or \[n,2\]"),
    (made([1, 2], [[0, 0, 0], [0, 1, 1]], [2, 3]), "has values"),
    (made([1], [0], [1 << 40]), "its shape has more than"),
    (made([1], [0], [1 << 20, 1 << 20, 1 << 20, 1 << 20]), "its shape has more than"),
    (made([1], [0], [-3]), "dimension 0 is -3"),
    (made([1], [0], [0, 4]), "is outside|do not ascend"),
    (made([1], [0], [1] * 40), "its rank is 40"),
    (made([[1]], [0], [4]), "has values"),
])
def test_hostile(tensor, said):
    for attribute in (False, True):
        with pytest.raises(Exception, match=said):
            result(tensor, attribute=attribute)


def test_without_parts():
    whole = made([1, 2], [0, 2], [2, 3])
    for part in ("values", "indices"):
        tensor = onnx.SparseTensorProto()
        tensor.CopyFrom(whole)
        tensor.ClearField(part)
        with pytest.raises(Exception, match="values and indices" if part == "indices" else "no name|values and indices"):
            result(tensor)


def test_names_twice():
    with pytest.raises(Exception, match="defined a second time"):
        result(made([1], [0], [2]), made([1], [0], [2]))
