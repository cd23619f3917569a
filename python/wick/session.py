"""wick.InferenceSession and what belongs to it: the names and habits of ONNX Runtime's Python package.

Names, arguments and results are those of its documentation (https://onnxruntime.ai/docs/api/python),
so that a script runs with its import changed.
"""
import collections.abc
import ctypes
import json
import numbers
import os
import threading
import time

import numpy as np

from wick import _core, types
from wick.errors import Canceled, InvalidArgument
from wick.options import PROVIDERS, RunOptions, SessionOptions, expected, providers_of, unknown
from wick.program import Model, Specialized, as_value, from_dlpack

def get_available_providers():
    return list(PROVIDERS)


def get_all_providers():
    return list(PROVIDERS)


def get_device():
    return "CPU"


def get_version_string():
    return f"{_core.VERSION_MAJOR}.{_core.VERSION_MINOR}"


# ---- settings for the whole process; none of them has an effect in Wick ----


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


class NodeArg:
    """An input or output: `name`, `type` ("tensor(float)", "seq(map(int64,tensor(float)))"), `shape` (numbers, names
    of dynamic sizes; [] if it is not a tensor or its rank is dynamic)."""

    def __init__(self, port):
        self.name = port.name
        self.type = port.onnx_type()
        self.shape = [] if port.shape is None else [size if size >= 0 else name or None for size, name in zip(port.shape, port.symbols)]

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
    """An array that runs may use, copied only if necessary."""

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

    If the model has dynamic sizes, one program serves all of them; it is compiled in the first run. Otherwise code is
    compiled at once. Equal inputs give equal bits, whatever sizes a session has had before (docs/python.md).
    `run` may be called from any number of threads. Pickled, it is made again from its file or bytes.
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, *, enable_fallback=True,
                 disabled_optimizers=None, allow_links=False, ops=None, **options):
        self._options = expected("sess_options", sess_options, SessionOptions)
        self._more = options
        self._providers = providers_of(providers, provider_options)
        self._events, self._begun, self._profile = [], time.perf_counter_ns(), None
        self._begin(Model(path_or_bytes, allow_links=allow_links or self._options.allow_links, ops=ops))

    def _begin(self, model):
        self._model, self._overriding, self._lock = model, {}, threading.Lock()
        self._inputs = {p.name: p for p in model.inputs}
        self._outputs = {p.name: i for i, p in enumerate(model.outputs)}
        self._overridable = {p.name: p for p in model.overridable}
        self._need_sizes(self._options._sizes)
        self._compiled = Specialized(model, self._options._sizes, **{**self._options._compile(), **self._more})
        dynamic_sizes = model.dynamic_sizes
        if not model.needs_shapes or (dynamic_sizes and dynamic_sizes <= set(self._options._sizes)):
            self._compiled.prepare()

    def _session_for(self, feed):
        """This session, or one whose program takes the initializers that the feed overrides as inputs."""
        if not self._overridable:
            return self
        names = tuple(n for n in self._overridable if n in feed and n not in self._inputs) if hasattr(feed, "keys") else ()
        if not names:
            return self
        with self._lock:
            if names not in self._overriding:
                other = object.__new__(InferenceSession)
                other.__dict__.update(self.__dict__)
                other._begin(self._model.override(*names))
                self._overriding[names] = other
        other = self._overriding[names]
        other._events = self._events
        return other

    def _need_sizes(self, sizes):
        wrong = sorted(set(sizes) - self._model.dynamic_sizes)
        if wrong:
            known = sorted(self._model.dynamic_sizes)
            raise InvalidArgument(f"no input has a size named {', '.join(wrong)}; "
                                  + (f"there are {', '.join(known)}" if known else "all sizes are known"))

    def run(self, output_names, input_feed, run_options=None):
        """Returns a list of arrays: those of `output_names`, or all outputs if there are no names."""
        _may_run(run_options)
        if output_names:
            output_names = [self._output_name(n) for n in _names("output_names", output_names)]
        session = self._session_for(input_feed)
        out = session._run(session._arrays(input_feed))
        return out if not output_names else [out[self._outputs[n]] for n in output_names]

    def reset(self):
        """Sets the states of a model that keeps some from run to run to their initial values."""
        self._compiled.reset()

    @property
    def states(self):
        """{name: array}: copies of the states that the last run has left. `set_states` takes them back."""
        return self._compiled.states

    def set_states(self, states):
        """Sets states, {name: array}; the others stay."""
        self._compiled.set_states(states)

    def get_states(self):
        """The names, types and shapes of the states."""
        return [NodeArg(p) for p in self._model.states]

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        return [OrtValue(a) for a in self.run(output_names, input_dict_ort_values, run_options)]

    def run_with_iobinding(self, iobinding, run_options=None):
        _may_run(run_options)
        session = self._session_for(iobinding._inputs)
        arrays = session._arrays(iobinding._inputs)
        program = session._compiled.program(arrays)
        given = [iobinding._outputs.get(p.name) for p in self._model.outputs]
        for port, array in zip(program.outputs_for(arrays), given):
            if array is not None:
                _need_fit(port, array)
        results = dict(zip(self._outputs, session._compiled.run(arrays, given)))
        iobinding._results = [results[n] for n in iobinding._outputs]

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        def work():
            try:
                callback(self.run(output_names, input_feed, run_options), user_data, "")
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
        return [NodeArg(p) for p in self._model.overridable]

    def get_modelmeta(self):
        return ModelMetadata(self._model.metadata)

    def get_providers(self):
        return list(self._providers)

    def get_provider_options(self):
        return {p: {} for p in self._providers}

    def get_session_options(self):
        return self._options

    def set_providers(self, providers=None, provider_options=None):
        self._providers = providers_of(providers, provider_options)

    def disable_fallback(self):
        pass

    def enable_fallback(self):
        pass

    # ---- profiles ----

    def get_profiling_start_time_ns(self):
        return self._begun

    def end_profiling(self):
        """Writes the measurements as Chrome's trace events, and returns the file's name."""
        if not self._options.enable_profiling:
            return ""
        name = f"{self._options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}_{os.getpid()}.json"
        with open(name, "w") as f:
            json.dump(self._events, f)
        self._events = []
        return name

    def _profiled(self, arrays):
        program = self._compiled.turn_to(arrays)
        begin = time.perf_counter_ns()
        out, times = program.time_kernels(arrays)
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

    def _need_inputs(self, feed):
        if not isinstance(feed, collections.abc.Mapping):
            raise TypeError(f"input_feed: a dict of arrays by name is expected, {type(feed).__name__} is given")
        if len(feed) != len(self._inputs) or any(n not in self._inputs for n in feed):
            missing = [n for n in self._inputs if n not in feed]
            wrong = [n for n in feed if n not in self._inputs]
            raise InvalidArgument("; ".join(
                ([f"missing inputs: {', '.join(missing)}"] if missing else [])
                + ([unknown("input", wrong, self._inputs)] if wrong else [])))

    def _arrays(self, feed):
        if type(feed) is not dict or feed.keys() != self._inputs.keys():
            self._need_inputs(feed)
        arrays = [as_value(p, feed[p.name]) for p in self._inputs.values()]
        for port, array in zip(self._model.inputs, arrays) if self._options._sizes else ():
            for size, symbol in zip(getattr(array, "shape", ()), port.symbols):
                if self._options._sizes.get(symbol, size) != size:
                    raise InvalidArgument(f"input \"{port.name}\": the size {symbol} is {size}, "
                                          f"{self._options._sizes[symbol]} was set")
        return arrays

    def _input_name(self, name):
        if name not in self._inputs and name not in self._overridable:
            raise InvalidArgument(unknown("input", [name], self._inputs))
        return name

    def _output_name(self, name):
        if name not in self._outputs:
            raise InvalidArgument(unknown("output", [name], self._outputs))
        return name

    def __reduce__(self):
        source = self._model.source
        return (_again, (bytes(source) if isinstance(source, memoryview) else source, self._options,
                         self._providers, {"allow_links": self._model.allow_links, "ops": self._model.ops, **self._more}))

    def __repr__(self):
        return f"wick.InferenceSession({self._model!r})"


def _again(source, options, providers, more):
    return InferenceSession(source, options, providers, **more)


def _may_run(run_options):
    if run_options is not None and expected("run_options", run_options, RunOptions).terminate:
        raise Canceled("the run was terminated: RunOptions.terminate is set")


def _names(what, names):
    if isinstance(names, str) or not all(isinstance(n, str) for n in names):
        raise TypeError(f"{what}: a list of names is expected, {names!r} is given")
    return names


def _need_fit(port, array):
    if port.type:
        raise InvalidArgument(f"output \"{port.name}\" is {port.type}, which cannot be bound to memory")
    want = types.dtype(port.elem)
    if array.dtype != want or array.shape != port.shape or not array.flags.c_contiguous:
        raise InvalidArgument(f"output \"{port.name}\" is {port.elem}{list(port.shape)}, dense; "
                              f"bound is {array.dtype}{list(array.shape)}")
