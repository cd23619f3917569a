"""Loading, compiling and running: the implementation of wick.load, wick.compile and wick.run."""
import collections
import operator
import os
import reprlib
import sys
import threading

import numpy as np

from wick import _core, types
from wick.errors import (Canceled, InvalidArgument, OutOfMemory, OutOfRange, SystemRefused, TypeMismatch, WickError,
                         raised)
from wick.memory import Results
from wick.options import unknown
from wick.ports import Port, Ports, as_map, shape_of, shapes_of


# ---- values from users ----


def _whole(what, value):
    try:
        n = operator.index(value)
    except TypeError:
        raise TypeMismatch(f"{what}: {value!r} is no whole number") from None
    if not -(1 << 63) <= n < 1 << 63:
        raise OutOfRange(f"{what}: {n} does not fit in 64 bits")
    return n


def _wholes(what, values):
    if not np.iterable(values):
        raise TypeMismatch(f"{what}: expected whole numbers, {values!r} is given")
    return tuple([_whole(what, n) for n in values])


def _range(name, given):
    numbers = _wholes(f"the size {name}", given)
    if len(numbers) not in (2, 3):
        raise InvalidArgument(f"the size {name}: expected (least, most) or (least, most, step), {given!r} is given")
    return (*numbers, 1)[:3]


def _typed(port, value):
    """Converts a value (an array of another type, or a list) to an array of the input's type. Only digits of floats
    may be lost."""
    want = types.dtype(port.elem)
    try:
        given = np.asarray(value)
        array = np.asarray(value, want)
        if given.dtype == want or not given.size or types.kept(port.elem, array, given):
            return array
    except (ValueError, TypeError, OverflowError):
        pass
    raise TypeMismatch(f"input \"{port.name}\": {reprlib.repr(value)} is not a value of type {port.elem}")


class Options:
    """How to compile and run; every field has a default."""

    FIELDS = {"target": None, "tune": None, "precision": None, "tuning": None, "cache": None, "strict": False,
              "jobs": 0, "auto_specialize": 0, "threads": 0}
    MOST = {"jobs": 4096, "auto_specialize": 1024, "threads": 4096}

    def __init__(self, **given):
        wrong = sorted(set(given) - set(self.FIELDS))
        if wrong:
            raise TypeError(unknown("option", wrong, self.FIELDS))
        for name, default in self.FIELDS.items():
            setattr(self, name, given.get(name, default))
        for name, most in self.MOST.items():
            if not 0 <= _whole(name, getattr(self, name)) <= most:
                raise OutOfRange(f"{name}: {getattr(self, name)} is outside 0 to {most}")

    def _compile(self):
        text = lambda x: None if x is None else os.fspath(x)
        return (text(self.target), text(self.tune), text(self.precision), text(self.tuning), text(self.cache),
                bool(self.strict), self.jobs, self.auto_specialize)


class Model:
    """A loaded model. `source` is a path, or the bytes of a file, then `name` is in messages.

    `derivatives` are what `grad` adds, in order: (of, wrt, cotangent) each. `override` names initializers that become
    inputs, of those in `overridable`. External data is reached through links in a model store (Hugging Face's layout);
    with `allow_links` all links are followed. `entry` is a function of a program of Wick's language. `ops` is the file
    of a program whose functions are operators of the model (docs/language.md).
    """

    def __init__(self, source, name="model.onnx", derivatives=(), override=(), allow_links=False, entry=None, ops=None):
        if hasattr(source, "SerializeToString"):
            source = source.SerializeToString()
        in_memory = isinstance(source, (bytes, bytearray, memoryview))
        self.source, self.name = source, name if in_memory else os.fspath(source)
        self.allow_links, self.entry, self.ops = bool(allow_links), entry, None if ops is None else os.fspath(ops)
        self._core = raised(_core.Model, self.name, source if in_memory else None, self.allow_links, entry, self.ops)
        self._lock = threading.Lock()
        self._programs = self._applied = None  # of calls, made by the first one
        self.derivatives, self.overridden = tuple(derivatives), tuple(override)
        #: Initializers that the file lists as inputs, too: defaults, constant unless they are overridden.
        self.overridable = tuple(Port(*p) for p in self._core.overridable)
        if self.overridden:
            raised(self._core.override, self.overridden)
        for derivative in self.derivatives:
            raised(self._core.grad, *derivative)
        self.metadata = self._core.metadata
        self.inputs = Ports("input", tuple(Port(*p) for p in self._core.inputs), self.metadata).all
        visible, _ = _visible(tuple(Port(*p) for p in self._core.outputs))
        self.outputs = Ports("output", visible, self.metadata).all
        #: What a program keeps from run to run: the past frames of a streaming model, the state of a recurrent layer.
        self.states = tuple(Port(*p) for p in self._core.states)
        #: Must shapes or contents of inputs be given to compile it?
        self.needs_shapes = self._core.needs_shapes
        #: Names of the sizes of inputs that the file leaves dynamic.
        self.dynamic_sizes = {name for p in self.inputs if p.shape is not None for d, name in zip(p.shape, p.symbols) if d < 0}

    def compile(self, shapes=None, sizes=None, contents=None, *, ranges=None, dynamic=False, specialize_dims=None,
                specialize_inputs=None, donate=(), **options):
        """Machine code for these shapes of inputs ({name: shape}) and dynamic sizes ({name: number}).

        Sizes with a range ({name: (least, most)}, or (least, most, step)) stay dynamic: the code serves them all. With
        `dynamic` all sizes that are not given stay dynamic, too. `contents` ({name: array}) gives inputs from whose
        contents sizes follow. The code is specialized for the sizes in `specialize_dims` ({name: number or numbers});
        with `auto_specialize=N` it is specialized while it runs, for the first N sizes that occur often.
        `specialize_inputs` ({name: number, array, or several}) gives contents of small inputs that decide branches: a
        specialization for them has only the branch that runs. All specializations give the same bits.

        Inputs in `donate` (names; that of a structure stands for all its tensors) share their memory with outputs of
        equal types: a call updates such an array, if it is dense and may be written to, and returns it.
        """
        o = Options(**options)
        shapes = {name: _wholes(f"the shape of \"{name}\"", shape) for name, shape in (shapes or {}).items()}
        sizes = {name: _whole(f"the size {name}", n) for name, n in (sizes or {}).items()}
        ranges = {name: _range(name, r) for name, r in (ranges or {}).items()}
        specialize_dims = {name: _wholes(f"the size {name}", np.atleast_1d(p).tolist())
                           for name, p in (specialize_dims or {}).items()}
        specialize_inputs = tuple((name, c) for name, value in (specialize_inputs or {}).items()
                                  for c in self._contents_of(name, value))
        given = {}
        for name, array in (contents or {}).items():
            port = next((p for p in self.inputs if p.name == name), None)
            if port and port.type:
                continue
            if port is None:
                raise InvalidArgument(unknown("input", [name], [p.name for p in self.inputs]))
            given[name] = types.memory(port.elem, np.ascontiguousarray(_typed(port, array)))
        with self._lock:
            core = raised(self._core.compile, shapes, sizes, ranges, bool(dynamic), specialize_dims, specialize_inputs, given,
                          (donate,) if isinstance(donate, str) else tuple(donate), *o._compile())
        return Program(core, o)

    def _contents_of(self, name, value):
        """The bytes of contents that an input may hold: one, or several along a further axis."""
        port = next((p for p in self.inputs if p.name == name and not p.type), None)
        if port is None:
            raise InvalidArgument(unknown("input", [name], [p.name for p in self.inputs if not p.type]))
        made = _typed(port, value)
        if port.shape is None:
            raise InvalidArgument(f"input \"{name}\": its rank is dynamic, so its contents cannot be one of several")
        several = made if made.ndim > len(port.shape) else made[None]
        return [types.memory(port.elem, np.ascontiguousarray(x)) for x in several]

    def __call__(self, *args, **named):
        """The outputs for these inputs, by order or by name; in a traced function, as traced arrays."""
        if "wick.trace.scope" in sys.modules and sys.modules["wick.trace.scope"].current() is not None:
            return self.apply({}, *args, **named)
        with self._lock:
            if self._programs is None:
                self._programs = Specialized(self)
        out = self._programs.run(arrays_of(self.inputs, args, named))
        return out[0] if len(out) == 1 else tuple(out)

    def apply(self, parameters, /, *args, **named):
        """The same with arrays in the place of constants, by name: those of `parameters` that are trained."""
        from wick.trace import function, models, scope
        if scope.current() is not None:
            return models.call(self, args, named, parameters)
        with self._lock:
            if self._applied is None:
                self._applied = function.Function(lambda parameters, args, named: models.call(self, args, named, parameters))
        return self._applied(dict(parameters), args, named)

    @property
    def parameters(self):
        """The model's weights: its constants of floats with at least one dimension, by name."""
        from wick.trace import models
        return models.parameters(self)

    def grad(self, wrt=None, of=None, cotangent=False):
        """The same model with further outputs "X.grad", the derivatives of `of` by `wrt`; see wick.grad."""
        wrt = () if wrt is None else (wrt,) if isinstance(wrt, str) else tuple(wrt)
        return Model(self.source, self.name, self.derivatives + ((of, wrt, bool(cotangent)),), self.overridden,
                     self.allow_links, self.entry, self.ops)

    def override(self, *names):
        """The same model with these initializers as inputs, of those in `overridable`."""
        return Model(self.source, self.name, self.derivatives, names, self.allow_links, self.entry, self.ops)

    def __reduce__(self):
        source = bytes(self.source) if isinstance(self.source, memoryview) else self.source
        return Model, (source, self.name, self.derivatives, self.overridden, self.allow_links, self.entry, self.ops)

    def __repr__(self):
        return f"wick.Model({self.name!r}: {_signature(self.inputs, self.outputs)})"


def _visible(ports):
    """The outputs. For each one whose size depends on data: the axis, and the output (NAME.size.AXIS) that has its
    size."""
    place = {p.name: k for k, p in enumerate(ports)}
    sizes = {}
    for k, p in enumerate(ports):
        name, dot, axis = p.name.rpartition(".size.")
        if dot and name in place and axis.isdigit() and not p.shape:
            sizes[place[name]] = (int(axis), k)
    counts = {k for _, k in sizes.values()}
    return tuple(p for k, p in enumerate(ports) if k not in counts), sizes


class Program:
    """Compiled code. A call runs it; any number of threads may call it at once.

    If the model has states, each call reads what the call before has left, and calls of several threads run one after
    the other.
    """

    def __init__(self, core, options):
        self._core, self.options = core, options
        self._flat = tuple(Port(*p) for p in core.inputs)
        self._all = tuple(Port(*p) for p in core.outputs)
        self._visible, self._sizes = _visible(self._all)
        metadata = core.metadata
        self._ins, self._outs = Ports("input", self._flat, metadata), Ports("output", self._visible, metadata)
        self.inputs, self.outputs = self._ins.all, self._outs.all
        self.required_inputs = core.required_inputs
        #: For each output the number of the donated input whose memory it shares, or None.
        self.donors = core.donors
        self._donors = [(k, i) for k, i in enumerate(self.donors) if i is not None and types.is_plain(self._flat[i].elem)]
        #: Are there sizes that vary from run to run?
        self.dynamic = any(size < 0 for p in self._flat for size in p.shape)
        self._states = tuple(Port(*p) for p in core.states)
        self._free = collections.deque()  # sessions that are not running
        self._one = threading.Lock() if self._states else None  # states are those of one session
        self._memory = [Results() for _ in self._all]
        self._pid = os.getpid()
        #: Do all runs take all contents of inputs?
        self.takes_all = all(f is None for f in self.required_inputs)
        plain = (not self.dynamic and self._ins.plain and self._outs.plain and not self._sizes
                 and all(types.is_plain(p.elem) for p in self._flat + self._all))
        #: Shape and type of each output, if inputs and outputs are arrays of known sizes that NumPy holds as they are.
        self._plain = [(p.shape, types.dtype(p.elem)) for p in self._all] if plain else None
        self._none = (None,) * len(self._all)  # no output is given

    @classmethod
    def load(cls, path, *, threads=0):
        """What save wrote. Who opens an artifact trusts its author as if it were a program."""
        return cls(raised(_core.Compiled.load, os.fspath(path)), Options(threads=threads))

    def save(self, path):
        raised(self._core.save, os.fspath(path))

    @property
    def contract(self):
        return self._core.contract

    @property
    def kernels(self):
        return self._core.kernels

    @property
    def memory(self):
        return dict(zip(("constants", "arena", "scratch", "states"), self._core.memory))

    @property
    def profile(self):
        """A list of entries: sizes that have occurred or have a specialization, with named facts about each.

        `guards` are the contents of inputs that a specialization is for; `always` those that all runs of the entry had.
        """
        names = [name for name, _, _ in self._core.sizes]
        return [{"sizes": dict(zip(names, sizes)), "runs": runs, "specialization": origin or state, "why": why,
                 "base_ns": base, "specialized_ns": specialized, "guards": self._contents(guards), "always": self._contents(always)}
                for sizes, runs, state, origin, why, base, specialized, guards, always in self._core.profile]

    def _contents(self, by_name):
        ports = {p.name: p for p in self._flat}
        return {name: np.frombuffer(data, types.dtype(ports[name].elem)).reshape(ports[name].shape)
                for name, data in by_name.items()}

    @property
    def flow(self):
        """What runs have done at the branches and loops that are left in the code: how often each branch of an `if` was
        taken; how often a loop was entered, its steps in all, and the least and most of one time."""
        keys = {3: ("location", "then", "else"), 5: ("location", "times", "steps", "least", "most")}
        return [dict(zip(keys[len(row)], row)) for row in self._core.flow]

    def wait(self):
        """Waits for the specializations that are being compiled."""
        self._core.wait()

    def takes(self, arrays):
        """May it run on these contents?"""
        return all(f is None or types.equals(p.elem, a, f)
                   for f, p, a in zip(self.required_inputs, self._flat, self._ins.flat(arrays)))

    def run(self, arrays, outputs=None):
        """Runs on arrays (lists for sequences) in the order of the inputs, dense, of the right types and shapes.
        Returns a list of outputs.

        `outputs`: arrays to write to, or None for each that is to be allocated. One whose size depends on data must be
        large enough for the largest size; the result is the part that was written.
        """
        if self._plain is not None and not outputs:
            return self._run_plain(arrays)
        outputs = tuple(outputs or ()) if self._outs.plain else ()
        outputs += (None,) * (len(self._all) - len(outputs))
        flat = self._ins.flat(arrays)
        outputs = self._donated(flat, outputs)
        ins = tuple([types.memory(p.elem, a) for p, a in zip(self._flat, flat)])
        session = self._take()
        try:
            shapes = self._shapes(session, flat)
            made = [types.empty(p.elem, s, m.array) if o is None else (o, types.memory(p.elem, o))
                    for p, s, o, m in zip(self._all, shapes, outputs, self._memory)]
            raised(session.run, ins, tuple([buffer for _, buffer in made]))
            return self._results(shapes, made)  # strings are the session's, until it runs again
        finally:
            self._give(session)

    def _donated(self, arrays, outputs):
        """The outputs, where None is given those that share the memory of these arrays."""
        outputs = list(outputs)
        for k, i in self._donors:
            if outputs[k] is None and arrays[i].flags.writeable:
                outputs[k] = arrays[i]
        return outputs

    def _run_plain(self, arrays):
        given = self._donated(arrays, (None,) * len(self._all)) if self._donors else self._none
        made = [memory.array(shape, dtype) if own is None else own for memory, (shape, dtype), own
                in zip(self._memory, self._plain, given)]
        session = self._take()
        try:
            raised(session.run, tuple(arrays), tuple(made))
        finally:
            self._give(session)
        return made

    def outputs_for(self, arrays):
        """The outputs, with the sizes that follow from those of these arrays."""
        if not self.dynamic:
            return self.outputs
        session = self._take()
        try:
            shapes = self._shapes(session, self._ins.flat(arrays))
        finally:
            self._give(session)
        shape = dict(zip((p.name for p in self._all), shapes))
        return tuple(p if p.type else p._replace(shape=shape[p.name]) for p in self.outputs)

    def fits(self, arrays):
        """Can the dynamic sizes be those of these arrays?"""
        try:
            self.outputs_for(arrays)
            return True
        except (TypeMismatch, OutOfRange):
            return False

    def _shapes(self, session, flat):
        """Those of the outputs."""
        return raised(session.shape, tuple([a.shape for a in flat])) if self.dynamic else [p.shape for p in self._all]

    def _results(self, shapes, made):
        """Counts follow the outputs that they belong to."""
        all = [types.unpacked(p.elem, s, a, b) for p, s, (a, b) in zip(self._all, shapes, made)]
        for k, (axis, count) in self._sizes.items():
            all[k] = np.ascontiguousarray(all[k][(slice(None),) * axis + (slice(0, int(all[count])),)])
        return self._outs.packed(all[:len(self._visible)])

    def _take(self):
        if self._pid != os.getpid():  # a fork: the other process's threads are not here
            before, self._free, self._pid = self._free, collections.deque(), os.getpid()
            if self._states:
                self._one = threading.Lock()
                self._free.extend(self._copy(s) for s in before)
        if self._one:
            self._one.acquire()
        try:
            return self._free.pop() if self._free else raised(_core.Session, self._core, self.options.threads)
        except IndexError:  # another thread was faster
            return raised(_core.Session, self._core, self.options.threads)
        except BaseException:
            if self._one:
                self._one.release()
            raise

    def _give(self, session):
        self._free.append(session)
        if self._one:
            self._one.release()

    def _copy(self, session, profile=False):
        """A session with the same states."""
        other = raised(_core.Session, self._core, self.options.threads, profile)
        self._move(session, other)
        return other

    def _move(self, session, to):
        for p in self._states:
            buffer = types.empty(p.elem, p.shape)[1]
            raised(session.state_get, p.name, buffer)
            raised(to.state_set, p.name, buffer)

    def reset(self):
        """Sets the states to the model's initial values."""
        session = self._take()
        session.reset()
        self._give(session)

    @property
    def states(self):
        """The states by name, as arrays: copies of what the last call has left. `set_states` takes them back."""
        all = {}
        session = self._take()
        try:
            for p in self._states:
                array, buffer = types.empty(p.elem, p.shape)
                raised(session.state_get, p.name, buffer)
                all[p.name] = types.unpacked(p.elem, p.shape, array, buffer)
        finally:
            self._give(session)
        return all

    def set_states(self, states):
        """Sets states, {name: array}; the others stay."""
        ports = {p.name: p for p in self._states}
        wrong = [n for n in states if n not in ports]
        if wrong:
            raise InvalidArgument(unknown("state", wrong, ports))
        made = {n: types.memory(ports[n].elem, as_array(ports[n], a)) for n, a in states.items()}
        session = self._take()
        try:
            for n, memory in made.items():
                raised(session.state_set, n, memory)
        finally:
            self._give(session)

    def time_kernels(self, arrays):
        """One run -> (its outputs, [(kernel's number, nanoseconds)])."""
        if not self._states:
            return self._time_kernels(raised(_core.Session, self._core, self.options.threads, True), arrays)
        session = self._take()
        try:
            timed = self._copy(session, True)
            result = self._time_kernels(timed, arrays)
            self._move(timed, session)
            return result
        finally:
            self._give(session)

    def _time_kernels(self, session, arrays):
        flat = self._ins.flat(arrays)
        shapes = self._shapes(session, flat)
        made = [types.empty(p.elem, s) for p, s in zip(self._all, shapes)]
        raised(session.run, tuple(types.memory(p.elem, a) for p, a in zip(self._flat, flat)),
               tuple(buffer for _, buffer in made))
        return self._results(shapes, made), session.times

    def __call__(self, *args, **named):
        """Arrays by order or by name -> the output, or a tuple of several."""
        out = self.run(arrays_of(self.inputs, args, named))
        return out[0] if len(out) == 1 else tuple(out)

    def __repr__(self):
        return f"wick.Program({_signature(self.inputs, self.outputs)})"


def _port_text(p):
    if p.type:
        return f"{p.name}: {p.type}"
    if p.shape is None:
        return f"{p.name}: {p.elem}[...]"
    dims = (str(d) if d >= 0 else s or "?" for d, s in zip(p.shape, p.symbols))
    return f"{p.name}: {p.elem}[{','.join(dims)}]"


def _signature(inputs, outputs):
    return f"({', '.join(map(_port_text, inputs))}) -> ({', '.join(map(_port_text, outputs))})"


# ---- arrays ----


def as_value(port, value):
    """What an input takes: a dense array, of a sequence a list of them, a dict, None."""
    if not port.type:
        return as_array(port, value)
    value = value.numpy() if hasattr(value, "_wick_value") else value
    if port.map:
        return as_map(port, value)
    if value is None and port.optional:
        return None
    if not port.seq:
        return as_array(port, value)
    if not isinstance(value, (list, tuple)):
        raise TypeMismatch(f"input {_port_text(port)}: expected a list, {type(value).__name__} is given")
    return [as_array(port, v) for v in value]


def as_array(port, value):
    """A dense array of the input's type and shape, without a copy if it is one already."""
    if isinstance(value, np.ndarray):
        array = value
    elif isinstance(value, (int, float, bool, list, tuple)):
        array = _typed(port, value)  # Python's own numbers have no type: they take the input's
    else:
        array = _from_other(value)
    if array.dtype != types.dtype(port.elem):
        if port.elem != "string" or types.elem_of(array.dtype) != "string":
            raise TypeMismatch(f"input \"{port.name}\" is {port.elem}, an array of {array.dtype} is given")
        array = array.astype(object)
    if port.shape is not None and array.shape != port.shape and (len(port.shape) != array.ndim or any(a != b for a, b in zip(port.shape, array.shape) if a >= 0)):
        raise TypeMismatch(f"input {_port_text(port)}: an array of the shape {array.shape} is given")
    return array if array.flags.c_contiguous else np.ascontiguousarray(array).reshape(array.shape)


def _from_other(value):
    if hasattr(value, "numpy") and hasattr(value, "_wick_value"):
        return value.numpy()
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__"):
        return from_dlpack(value)
    return np.asarray(value)


def from_dlpack(value):
    """An array over the memory of an object with __dlpack__, also of types that NumPy lacks."""
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError):
        tensor = _core.from_dlpack(value.__dlpack__())
    elem = types.elem_of_dlpack(tensor.dtype)
    if elem is None:
        raise TypeMismatch(f"a tensor of DLPack's type {tensor.dtype} is not supported")
    return np.frombuffer(tensor, np.uint8).view(types.dtype(elem)).reshape(tensor.shape)


def arrays_of(inputs, args, named):
    names = [p.name for p in inputs]
    wrong = sorted(set(named) - set(names))
    if wrong:
        raise InvalidArgument(unknown("input", wrong, names))
    if len(args) > len(inputs):
        raise InvalidArgument(f"{len(args)} inputs are given by order; there are {len(inputs)}: {', '.join(names)}")
    given = dict(zip(names, args))
    twice = sorted(set(given) & set(named))
    missing = [n for n in names if n not in given and n not in named]
    if twice or missing:
        raise InvalidArgument(f"given twice: {', '.join(twice)}" if twice
                              else f"missing inputs: {', '.join(missing)}")
    return [as_value(p, given.get(p.name, named.get(p.name))) for p in inputs]


class Gradient:
    """A model and derivatives of one of its tensors: a call returns (outputs, {name: derivative})."""

    def __init__(self, model, wrt=None, of=None, cotangent=False, **options):
        self.count = len(model.outputs)
        self.model = model.grad(wrt, of, cotangent)
        self.names = [p.name.rpartition(".grad")[0] for p in self.model.outputs[self.count:]]
        self._programs = Specialized(self.model, **options)

    def __call__(self, *args, **named):
        out = self._programs.run(arrays_of(self.model.inputs, args, named))
        own = out[: self.count]
        return own[0] if len(own) == 1 else tuple(own), dict(zip(self.names, out[self.count:]))

    def __repr__(self):
        return f"wick.Gradient({_signature(self.model.inputs, self.model.outputs)})"


class Specialized:
    """One model, and the programs that run it at the sizes that its inputs have.

    One program serves all sizes. It is compiled when the first run needs it, and specialized for sizes that occur
    often, with the same bits. If there can be no such program (sizes depend on the contents of inputs, or some input is
    a sequence), or if it does not support some sizes, each set of shapes has its own program. Which program runs
    depends only on the shapes and contents of a run's inputs, not on the runs before it: so equal inputs give equal
    bits.
    """

    AUTO_SPECIALIZE = 8

    def __init__(self, model, sizes=None, **options):
        self.model, self.sizes, self.options = model, sizes or {}, options
        Options(**options)  # complains now, not in the first run
        self._programs = {}
        self._only = None  # the program of all runs, whatever their inputs
        self._last, self._states_lock = None, threading.Lock()  # the program that ran last, and has the states
        self._all = None  # the program for all sizes, once it was asked for; False: there can be none
        self._lock = threading.Lock()

    def prepare(self):
        """Compiles the program for all sizes of a model with dynamic sizes, which needs no inputs."""
        with self._lock:
            return self._for_all()

    def _for_all(self):
        """The program for all sizes, or False. Under the lock."""
        if self._all is None:
            options = {**({"auto_specialize": self.AUTO_SPECIALIZE} if self.model.dynamic_sizes else {}), **self.options}
            try:
                self._all = self.model.compile(sizes=self.sizes, dynamic=True, **options)
            except (Canceled, OutOfMemory, SystemRefused):  # another run may have more luck
                raise
            except WickError:
                if not self.model.needs_shapes:
                    raise
                self._all = False
        return self._all

    def program(self, arrays):
        if self._only:
            return self._only
        key = tuple([shape_of(p, a) for p, a in zip(self.model.inputs, arrays)])
        for program in self._programs.get(key, ()):
            if program.takes(arrays):
                return program
        with self._lock:
            for program in self._programs.get(key, ()):
                if program.takes(arrays):
                    return program
            program = self._for_all()
            if not (program and program.fits(arrays)):
                names = [p.name for p in self.model.inputs]
                program = self.model.compile(shapes=shapes_of(self.model.inputs, arrays), sizes=self.sizes,
                                             contents=dict(zip(names, arrays)), **self.options)
            self._programs[key] = self._programs.get(key, ()) + (program,)
            if program is self._all and not program.dynamic and program.takes_all:
                self._only = program
            return program

    def run(self, arrays, outputs=None):
        return self.turn_to(arrays).run(arrays, outputs)

    def turn_to(self, arrays):
        """The program for these arrays, which has the states of the one that ran last."""
        program = self.program(arrays)
        if program._states and self._last is not program:
            with self._states_lock:
                if self._last:
                    program.set_states(self._last.states)
                self._last = program
        return program

    def reset(self):
        with self._states_lock:
            if self._last:
                self._last.reset()

    @property
    def states(self):
        with self._states_lock:
            return (self._last or self._any()).states

    def set_states(self, states):
        with self._states_lock:
            if not self._last:
                self._last = self._any()
            self._last.set_states(states)

    def _any(self):
        """A program whose states can be read before the first run."""
        program = self.prepare()
        if not program:
            raise InvalidArgument("the model is compiled in the first run, before which it has no states")
        return program
