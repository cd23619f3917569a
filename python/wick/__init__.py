"""Wick compiles trained models to machine code and runs them.

    import wick
    session = wick.InferenceSession("net.onnx")           # as users of ONNX Runtime know it
    outputs = session.run(None, {"image": array})

    program = wick.compile("net.onnx", shapes={"image": (1, 3, 224, 224)})
    result = program(array)
"""
import importlib
import os

from wick.errors import (Bug, Canceled, InvalidArgument, InvalidModel, LimitReached, OutOfMemory, OutOfRange,
                         SystemRefused, TypeMismatch, Unsupported, WickError)
from wick.language import Data, Function, Module, Struct, is_program, module_of_text
from wick.program import Gradient, Model, Program, Specialized
from wick.options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from wick.session import (InferenceSession, IOBinding, ModelMetadata, NodeArg, OrtValue, disable_telemetry_events,
                          enable_telemetry_events, get_all_providers, get_available_providers, get_device, get_version_string,
                          set_default_logger_severity, set_default_logger_verbosity, set_seed)

__version__ = get_version_string()


def load(source, name="model.onnx", *, entry=None, allow_links=False, ops=None):
    """Reads and checks a model: a path, or the bytes of a file. A program of Wick's language gives a module, whose functions
    are its attributes (wick.language.Module); its text will do, too, and `name` is then in messages.

    External data is reached through links in a model store (Hugging Face's layout); with `allow_links` all links are
    followed. `ops` is a file of the language whose functions are operators of the model, by domain and name. `entry` is
    the signature of a model that has several; a SavedModel is a folder.
    """
    if entry is not None:
        return Model(source, name, allow_links=allow_links, entry=entry, ops=ops)
    if isinstance(source, (str, os.PathLike)) and is_program(source):
        return Module(os.fspath(source))
    if (module := module_of_text(source, name)) is not None:
        return module
    return source if isinstance(source, Model) else Model(source, name, allow_links=allow_links, ops=ops)


def compile(source, shapes=None, sizes=None, contents=None, *, ranges=None, dynamic=False, specialize_dims=None,
            specialize_inputs=None, donate=(), allow_links=False, ops=None,
            **options):
    """Machine code for a model, whose dynamic sizes are given or stay dynamic; see Model.compile."""
    model = load(source, allow_links=allow_links, ops=ops)
    return model.compile(shapes, sizes, contents, ranges=ranges, dynamic=dynamic, specialize_dims=specialize_dims,
                         specialize_inputs=specialize_inputs, donate=donate, **options)


def run(source, *args, **named):
    """Loads, compiles and runs once: arrays by order or by name -> the output, or a tuple of several."""
    from wick.program import arrays_of
    model = load(source)
    out = Specialized(model).run(arrays_of(model.inputs, args, named))
    return out[0] if len(out) == 1 else tuple(out)


#: Names of wick.trace, which is imported when the first of them is used, and modules.
_TRACED = {name: "function" for name in "function jit Lowered Executable ShapeDtype eval_shape block_until_ready".split()}
_TRACED |= {name: "transform" for name in "value_and_grad vjp jvp vmap jacfwd jacrev hessian checkpoint stop_gradient linearize linear_transpose".split()}
_TRACED |= {name: "custom" for name in ("custom_vjp", "custom_jvp", "closure_convert")}
_TRACED |= {name: "control" for name in "cond switch while_loop fori scan associative_scan".split()}
_TRACED |= {"remat": "transform", "jacobian": "transform"}
_ENVIRONMENT = frozenset("Array check_tracer_leaks checking_leaks checkpoint_policies clear_caches config custom_gradient default_backend default_device default_matmul_precision device_count device_get device_put devices disable_jit effects_barrier enable_checks "
                         "ensure_compile_time_eval host_count host_id io_callback local_device_count local_devices log_compiles make_jaxpr named_call "
                         "named_scope numpy_dtype_promotion numpy_rank_promotion process_count process_index pure_callback transfer_guard typeof".split())
_SHARDING = frozenset("NamedSharding P make_mesh set_mesh pmap shard_map".split())
_MODULES = frozenset("custom_batching debug dtypes experimental flatten_util image lax nn numpy ops random scipy sharding tree tree_util typing".split())


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"wick.{name}")
    if name in _ENVIRONMENT:
        return getattr(importlib.import_module("wick.environment"), name)
    if name in _SHARDING:
        return getattr(importlib.import_module("wick.sharding"), {"P": "PartitionSpec"}.get(name, name))
    if name == "float0":
        return importlib.import_module("wick.dtypes").float0
    if name == "ShapeDtypeStruct":
        name = "ShapeDtype"
    if name not in _TRACED:
        raise AttributeError(f"module 'wick' has no attribute {name!r}")
    module = importlib.import_module(f"wick.trace.{_TRACED[name]}")
    made = globals()[name] = getattr(module, name)
    return made


def __dir__():
    return sorted([*globals(), *_TRACED, *_MODULES, *_ENVIRONMENT, *_SHARDING, "ShapeDtypeStruct", "float0"])


def grad(source, wrt=None, of=None, cotangent=False, *, argnums=None, has_aux=False, allow_links=False, ops=None, **options):
    """Of a function of arrays: the function that gives its gradient, wick.grad(f, argnums=0, has_aux=False); a second
    argument without a name is argnums, too (wick.function).

    Of a model: returns a function of arrays that computes a model's outputs and derivatives: (outputs, {name: array}).

    The sum of the elements of `of` (a tensor's name; the first output) is differentiated by each tensor of `wrt`:
    inputs, weights, or intermediate tensors, by name; without names, by all inputs of floats. With `cotangent` there is
    one more input, "Y.grad", which weights the elements of Y. Derivatives are outputs of `.model`, "X.grad", and can be
    differentiated again.
    """
    if callable(source) and not isinstance(source, (Model, os.PathLike)):
        from wick.trace.transform import grad as of_function
        given = argnums if argnums is not None else wrt if wrt is not None else 0
        return of_function(source, given, has_aux, **options)
    return Gradient(load(source, allow_links=allow_links, ops=ops), wrt, of, cotangent, **options)
