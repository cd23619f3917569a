"""Wick compiles trained models to machine code and runs them.

    import wick
    session = wick.InferenceSession("net.onnx")           # as users of ONNX Runtime know it
    outputs = session.run(None, {"image": array})

    program = wick.compile("net.onnx", shapes={"image": (1, 3, 224, 224)})
    result = program(array)
"""
import os

from wick.errors import (Bug, Canceled, InvalidArgument, InvalidModel, LimitReached, OutOfMemory, OutOfRange,
                         SystemRefused, TypeMismatch, Unsupported, WickError)
from wick.language import Data, Function, Module, Struct, is_program
from wick.program import Gradient, Model, Program, Specialized
from wick.options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from wick.session import (InferenceSession, IOBinding, ModelMetadata, NodeArg, OrtValue, disable_telemetry_events,
                          enable_telemetry_events, get_all_providers, get_available_providers, get_device, get_version_string,
                          set_default_logger_severity, set_default_logger_verbosity, set_seed)

__version__ = get_version_string()


def load(source, name="model.onnx", *, allow_links=False):
    """Reads and checks a model: a path, or the bytes of a file. A program of Wick's language gives a module, whose functions
    are its attributes (wick.language.Module).

    External data is reached through links in a model store (Hugging Face's layout); with `allow_links` all links are
    followed.
    """
    if isinstance(source, (str, os.PathLike)) and is_program(source):
        return Module(os.fspath(source))
    return source if isinstance(source, Model) else Model(source, name, allow_links=allow_links)


def compile(source, shapes=None, sizes=None, contents=None, *, ranges=None, dynamic=False, specialize_dims=None,
            specialize_inputs=None, allow_links=False,
            **options):
    """Machine code for a model, whose dynamic sizes are given or stay dynamic; see Model.compile."""
    return load(source, allow_links=allow_links).compile(shapes, sizes, contents, ranges=ranges, dynamic=dynamic, specialize_dims=specialize_dims,
                                                         specialize_inputs=specialize_inputs, **options)


def run(source, *args, **named):
    """Loads, compiles and runs once: arrays by order or by name -> the output, or a tuple of several."""
    from wick.program import arrays_of
    model = load(source)
    out = Specialized(model).run(arrays_of(model.inputs, args, named))
    return out[0] if len(out) == 1 else tuple(out)


def grad(source, wrt=None, of=None, cotangent=False, *, allow_links=False, **options):
    """Returns a function of arrays that computes a model's outputs and derivatives: (outputs, {name: array}).

    The sum of the elements of `of` (a tensor's name; the first output) is differentiated by each tensor of `wrt`:
    inputs, weights, or intermediate tensors, by name; without names, by all inputs of floats. With `cotangent` there is
    one more input, "Y.grad", which weights the elements of Y. Derivatives are outputs of `.model`, "X.grad", and can be
    differentiated again.
    """
    return Gradient(load(source, allow_links=allow_links), wrt, of, cotangent, **options)
