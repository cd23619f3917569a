"""wick.InferenceSession and what belongs to it: the names and habits of ONNX Runtime's Python package.

Names, arguments and results are those of its documentation (https://onnxruntime.ai/docs/api/python),
so that a script runs with its import changed.
"""
import ctypes
import enum
import json
import numbers
import os
import time
import warnings

import numpy as np

from wick import _core, types
from wick.errors import InvalidArgument
from wick.program import Model, Specialised, as_value, from_dlpack

_PROVIDERS = ["CPUExecutionProvider"]


def get_available_providers():
    return list(_PROVIDERS)


def get_all_providers():
    return list(_PROVIDERS)


def get_device():
    return "CPU"


def get_version_string():
    return f"{_core.VERSION_MAJOR}.{_core.VERSION_MINOR}"


# ---- what scripts set for the whole process; none of it changes what Wick does ----


def set_default_logger_severity(severity):
    pass


def set_default_logger_verbosity(level):
    pass


def set_seed(seed):
    pass


def enable_telemetry_events():
    pass


def disable_telemetry_events():
    pass


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """What changes how Wick compiles and runs; other attributes of ONNX Runtime's are kept, and have
    no effect."""

    def __init__(self):
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.enable_profiling = False
        self.profile_file_prefix = "wick_profile"
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.enable_mem_pattern = True
        self.enable_cpu_mem_arena = True
        self.enable_mem_reuse = True
        self.use_deterministic_compute = True
        self.use_per_session_threads = True
        self.optimized_model_filepath = ""
        self.precision = None  # Wick's own: "bf16", "f64"
        self.strict = False
        self.target = None
        self.cache = None
        self.records = None
        self._sizes = {}
        self._config = {}

    def add_free_dimension_override_by_name(self, name, size):
        self._sizes[name] = int(size)

    def add_session_config_entry(self, key, value):
        self._config[key] = value

    def get_session_config_entry(self, key):
        return self._config[key]

    def _compile(self):
        return {"threads": max(0, self.intra_op_num_threads), "precision": self.precision, "strict": self.strict,
                "target": self.target, "cache": self.cache, "records": self.records}


class RunOptions:
    def __init__(self):
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self.terminate = False
        self._config = {}

    def add_run_config_entry(self, key, value):
        self._config[key] = value

    def get_run_config_entry(self, key):
        return self._config[key]


class NodeArg:
    """An input or output: `name`, `type` ("tensor(float)", "seq(map(int64,tensor(float)))"), `shape` (numbers, names of
    open sizes; [] where it is no tensor)."""

    def __init__(self, port):
        self.name = port.name
        self.type = port.onnx_type()
        self.shape = [] if port.type else [size if size >= 0 else name or None for size, name in zip(port.shape, port.symbols)]

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class ModelMetadata:
    def __init__(self, metadata):
        own = lambda key: metadata.get(f"onnx.{key}", "")
        self.producer_name = own("producer_name")
        self.domain = own("domain")
        self.description = own("doc_string")
        self.graph_description = own("graph.doc_string")
        self.graph_name = own("graph.name")
        self.version = int(own("model_version") or 2**63 - 1)  # that of a model without one
        self.custom_metadata_map = {k: v for k, v in metadata.items() if not k.startswith("onnx.")}


class OrtValue:
    """An array that belongs to runs: no copy where none is needed."""

    _wick_value = True

    def __init__(self, array):
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array, device_type="cpu", device_id=0):
        _need_cpu(device_type)
        return OrtValue(np.asarray(array))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(array, onnx_element_type):
        elem = types.elem_of_onnx(onnx_element_type)
        if elem is None:
            raise InvalidArgument(f"there is no element type {onnx_element_type}")
        return OrtValue(array.view(types.dtype(elem)))

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        _need_cpu(device_type)
        return OrtValue(np.empty(shape, _numpy_type(element_type)))

    @staticmethod
    def from_dlpack(data, is_bool_tensor=False):
        array = from_dlpack(data)
        return OrtValue(array.view(np.bool_) if is_bool_tensor else array)

    def numpy(self):
        return self._array

    def shape(self):
        return list(self._array.shape)

    def data_type(self):
        if isinstance(self._array, dict):
            key, value = next(iter(self._array.items()), ("", 0.0))
            names = {numbers.Integral: "int64", numbers.Real: "float", str: "string"}  # the first that fits
            name = lambda x: next(text for kind, text in names.items() if isinstance(x, kind))
            return f"map({name(key)},tensor({name(value)}))"
        if not self.is_tensor():
            return f"seq({OrtValue(self._array[0]).data_type()})" if self._array else ""
        return f"tensor({types.onnx_name(types.elem_of(self._array.dtype))})"

    def element_type(self):
        return types.onnx_number(types.elem_of(self._array.dtype))

    def device_name(self):
        return "cpu"

    def tensor_size_in_bytes(self):
        return self._array.nbytes

    def data_ptr(self):
        return self._array.ctypes.data

    def has_value(self):
        return self._array is not None

    def is_tensor(self):
        return isinstance(self._array, np.ndarray)

    def is_sparse_tensor(self):
        return False

    def is_tensor_sequence(self):
        return isinstance(self._array, list) and not any(isinstance(x, dict) for x in self._array)

    def update_inplace(self, array):
        if array.shape != self._array.shape or array.dtype != self._array.dtype:
            raise InvalidArgument(f"it is {self._array.dtype}{list(self._array.shape)}, "
                                  f"{array.dtype}{list(array.shape)} is given")
        self._array[...] = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype=dtype, copy=copy) if copy else np.asarray(self._array, dtype)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **how):
        elem = types.elem_of(self._array.dtype)
        code = types.dlpack_of(elem)
        if code is None:
            raise BufferError(f"DLPack has no type for {elem}")
        if self._array.dtype.isbuiltin == 1:
            return self._array.__dlpack__(**how)
        return _core.to_dlpack(types.memory(elem, self._array), self._array.shape, *code)


def _numpy_type(element_type):
    if isinstance(element_type, int):
        elem = types.elem_of_onnx(element_type)
        if elem is None:
            raise InvalidArgument(f"there is no element type {element_type}")
        return types.dtype(elem)
    return np.dtype(element_type)


def _need_cpu(device_type):
    if device_type not in ("cpu", "cpu_pinned"):
        raise InvalidArgument(f"there is no device \"{device_type}\"; there is cpu")


class IOBinding:
    """Inputs and outputs of a session, bound to memory ahead of runs."""

    def __init__(self, session):
        self._session, self._inputs, self._outputs, self._results = session, {}, {}, []

    def bind_cpu_input(self, name, arr_on_cpu):
        self._inputs[self._session._input_name(name)] = arr_on_cpu

    def bind_ortvalue_input(self, name, ortvalue):
        self._inputs[self._session._input_name(name)] = ortvalue.numpy()

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        _need_cpu(device_type)
        self._inputs[self._session._input_name(name)] = _array_at(buffer_ptr, shape, element_type)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        _need_cpu(device_type)
        there = buffer_ptr is not None and element_type is not None and shape is not None
        self._outputs[self._session._output_name(name)] = (
            _array_at(buffer_ptr, shape, element_type) if there else None)

    def bind_ortvalue_output(self, name, ortvalue):
        self._outputs[self._session._output_name(name)] = ortvalue.numpy()

    def synchronize_inputs(self):
        pass

    def synchronize_outputs(self):
        pass

    def clear_binding_inputs(self):
        self._inputs.clear()

    def clear_binding_outputs(self):
        self._outputs.clear()

    def get_outputs(self):
        return [OrtValue(a) for a in self._results]

    def copy_outputs_to_cpu(self):
        return list(self._results)


def _array_at(address, shape, element_type):
    dtype = _numpy_type(element_type)
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = (ctypes.c_uint8 * nbytes).from_address(address)
    return np.frombuffer(memory, np.uint8).view(dtype).reshape(shape)


class InferenceSession:
    """A model, ready to run: `path_or_bytes` is a file's name or its bytes.

    Code is compiled for the first shapes that are met, at once where the model leaves nothing open, and once more for
    all others together where the model allows that.
    `run` may be called from any number of threads. Pickled, it is made again from its file or bytes.
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **options):
        self._options = sess_options or SessionOptions()
        self._more = options
        self._providers = _choose(providers)
        self._model = Model(path_or_bytes)
        self._model_open = self._model.open
        self._inputs = {p.name: p for p in self._model.inputs}
        self._outputs = {p.name: i for i, p in enumerate(self._model.outputs)}
        self._compiled = Specialised(self._model, **{**self._options._compile(), **options})
        self._events, self._begun, self._profile = [], time.perf_counter_ns(), None
        if self._options._sizes:
            known = {s for p in self._model.inputs for s in p.symbols}
            unknown = sorted(set(self._options._sizes) - known)
            if unknown:
                raise InvalidArgument(f"no input has a size named {', '.join(unknown)}")
        if not self._model_open:
            self._prepare()

    def _prepare(self):
        key = tuple(() if p.type else p.shape for p in self._model.inputs)
        program = self._model.compile(**self._compiled.options)
        self._compiled._programs[key] = (program,)

    def run(self, output_names, input_feed, run_options=None):
        """-> a list of arrays: of `output_names`, or of all outputs for None."""
        arrays = self._arrays(input_feed)
        out = self._run(arrays)
        return out if output_names is None else [out[self._outputs[self._output_name(n)]] for n in output_names]

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        return [OrtValue(a) for a in self.run(output_names, input_dict_ort_values, run_options)]

    def run_with_iobinding(self, iobinding, run_options=None):
        arrays = self._arrays(iobinding._inputs)
        program = self._compiled.program(arrays)
        given = [iobinding._outputs.get(p.name) for p in self._model.outputs]
        for port, array in zip(program.outputs_for(arrays), given):
            if array is not None:
                _need_fit(port, array)
        results = dict(zip(self._outputs, program.run(arrays, given)))
        iobinding._results = [results[n] for n in iobinding._outputs]

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        import threading

        def work():
            try:
                callback(self.run(output_names, input_feed), user_data, "")
            except Exception as e:  # the callback's third argument is how it hears of it
                callback([], user_data, str(e))
        threading.Thread(target=work, daemon=True).start()

    def io_binding(self):
        return IOBinding(self)

    def get_inputs(self):
        return [NodeArg(p) for p in self._model.inputs]

    def get_outputs(self):
        return [NodeArg(p) for p in self._model.outputs]

    def get_overridable_initializers(self):
        return []

    def get_modelmeta(self):
        return ModelMetadata(self._model.metadata)

    def get_providers(self):
        return list(self._providers)

    def get_provider_options(self):
        return {p: {} for p in self._providers}

    def get_session_options(self):
        return self._options

    def set_providers(self, providers=None, provider_options=None):
        self._providers = _choose(providers)

    def disable_fallback(self):
        pass

    def enable_fallback(self):
        pass

    # ---- profiles ----

    def get_profiling_start_time_ns(self):
        return self._begun

    def end_profiling(self):
        """Writes what was measured, as Chrome's trace events, and returns the file's name."""
        if not self._options.enable_profiling:
            return ""
        name = f"{self._options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}_{os.getpid()}.json"
        with open(name, "w") as f:
            json.dump(self._events, f)
        self._events = []
        return name

    def _profiled(self, arrays):
        program = self._compiled.program(arrays)
        begin = time.perf_counter_ns()
        out, times = program.profile(arrays)
        at = (begin - self._begun) / 1e3
        common = {"cat": "Node", "pid": os.getpid(), "tid": 0, "ph": "X"}
        kernels = program.kernels
        total = sum(ns for _, ns in times) / 1e3
        self._events.append({**common, "cat": "Session", "name": "model_run", "ts": at, "dur": total, "args": {}})
        for number, ns in times:
            kernel = kernels[number]
            self._events.append({**common, "name": kernel[0], "ts": at, "dur": ns / 1e3,
                                 "args": {"node": kernel[1], "flops": kernel[3], "bytes": kernel[4]}})
            at += ns / 1e3
        return out

    # ---- inside ----

    def _run(self, arrays):
        if self._options.enable_profiling:
            return self._profiled(arrays)
        return self._compiled.run(arrays)

    def _arrays(self, feed):
        if len(feed) != len(self._inputs) or any(n not in self._inputs for n in feed):
            missing = [n for n in self._inputs if n not in feed]
            unknown = [n for n in feed if n not in self._inputs]
            raise InvalidArgument("; ".join(
                ([f"missing inputs: {', '.join(missing)}"] if missing else [])
                + ([f"the model has no input {', '.join(unknown)}"] if unknown else [])))
        arrays = [as_value(p, feed[p.name]) for p in self._model.inputs]
        for port, array in zip(self._model.inputs, arrays) if self._options._sizes else ():
            for size, symbol in zip(getattr(array, "shape", ()), port.symbols):
                if self._options._sizes.get(symbol, size) != size:
                    raise InvalidArgument(f"input \"{port.name}\": the size {symbol} is {size}, "
                                          f"{self._options._sizes[symbol]} was set")
        return arrays

    def _input_name(self, name):
        if name not in self._inputs:
            raise InvalidArgument(f"the model has no input \"{name}\"; there are {', '.join(self._inputs)}")
        return name

    def _output_name(self, name):
        if name not in self._outputs:
            raise InvalidArgument(f"the model has no output \"{name}\"; there are {', '.join(self._outputs)}")
        return name

    def __reduce__(self):
        source = self._model.source
        return (_again, (bytes(source) if isinstance(source, memoryview) else source, self._options,
                         self._providers, self._more))

    def __repr__(self):
        return f"wick.InferenceSession({self._model!r})"


def _again(source, options, providers, more):
    return InferenceSession(source, options, providers, **more)


def _choose(providers):
    names = [p if isinstance(p, str) else p[0] for p in providers or _PROVIDERS]
    absent = [n for n in names if n not in _PROVIDERS]
    if absent:
        warnings.warn(f"there is no provider {', '.join(absent)}; the model runs on the CPU", stacklevel=3)
    return [n for n in names if n in _PROVIDERS] or list(_PROVIDERS)


def _need_fit(port, array):
    if port.type:
        raise InvalidArgument(f"output \"{port.name}\" is {port.type}, which cannot be bound to memory")
    want = types.dtype(port.elem)
    if array.dtype != want or array.shape != port.shape or not array.flags.c_contiguous:
        raise InvalidArgument(f"output \"{port.name}\" is {port.elem}{list(port.shape)}, dense; "
                              f"bound is {array.dtype}{list(array.shape)}")
