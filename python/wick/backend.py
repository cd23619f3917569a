"""ONNX's standard interface for backends (onnx.backend.base), for its own test suite and for tools."""
import numpy as np

from wick.program import Model, Specialized, arrays_of


class BackendRep:
    """A prepared model."""

    def __init__(self, model, **options):
        self._specialized = Specialized(model, **options)

    def run(self, inputs):
        """A list in the order of the inputs, a dict by name, or one array -> a tuple of arrays."""
        ports = self._specialized.model.inputs
        if isinstance(inputs, dict):
            arrays = arrays_of(ports, (), inputs)
        else:
            arrays = arrays_of(ports, inputs if isinstance(inputs, (list, tuple)) else (inputs,), {})
        return tuple(self._specialized.run(arrays))


def is_compatible(model, device="CPU", **kwargs):
    try:
        prepare(model, device)
    except Exception:
        return False
    return True


def prepare(model, device="CPU", **options):
    """Prepares a model (of onnx, a path or bytes) and returns an object that runs it."""
    if not supports_device(device):
        raise ValueError(f"there is no device {device}; there is CPU")
    return BackendRep(Model(model), **options)


def run_model(model, inputs, device="CPU", **options):
    return prepare(model, device, **options).run(inputs)


def run_node(node, inputs, device="CPU", outputs_info=None, **options):
    """One node on these arrays; the types of its results as onnx infers them."""
    import onnx
    from onnx import helper

    names = [n for n in node.input if n]
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.asarray(a).dtype),
                                           np.asarray(a).shape) for n, a in zip(names, inputs)]
    empty = [onnx.ValueInfoProto(name=n) for n in node.output]
    opsets = [helper.make_opsetid(node.domain, options.pop("opset_version", onnx.defs.onnx_opset_version()))]
    graph = helper.make_graph([node], "node", infos, empty)
    model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=opsets))
    return run_model(model, list(inputs), device, **options)


def supports_device(device):
    return device.split(":")[0].upper() == "CPU"
