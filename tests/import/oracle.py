"""Operators of ONNX, computed by ONNX Runtime, as oracles for those of other formats."""
import numpy as np
import onnx
import onnxruntime as ort


def like(op, **attributes):
    """ONNX's operator as an oracle."""
    def run(*arrays):
        kinds = [onnx.helper.np_dtype_to_tensor_dtype(a.dtype) for a in arrays]
        node = onnx.helper.make_node(op, [f"x{k}" if a.size else "" for k, a in enumerate(arrays)], ["y"], **attributes)
        inputs = [onnx.helper.make_tensor_value_info(f"x{k}", t, a.shape) for k, (t, a) in enumerate(zip(kinds, arrays)) if a.size]
        graph = onnx.helper.make_graph([node], "g", inputs, [onnx.helper.make_empty_tensor_value_info("y")])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=9).SerializeToString()
        session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
        return session.run(None, {f"x{k}": a for k, a in enumerate(arrays) if a.size})[0]
    return run


def resized(shape, mode, coordinates):
    f = like("Resize", mode=mode, coordinate_transformation_mode=coordinates, nearest_mode="floor")
    none = np.zeros(0, np.float32)
    return lambda x: f(x, none, none, np.int64(shape))
