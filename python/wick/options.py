"""Options by name: SessionOptions and RunOptions as in ONNX Runtime, and the error for a misspelt name.

An option that would change results or files, and that Wick cannot honour, is an error that names it; one that concerns
only how ONNX Runtime works inside is accepted and has no effect.
"""
import difflib
import enum
import operator
import os
import warnings

from wick.errors import InvalidArgument, Unsupported


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    DEFAULT = 0
    PRIORITY_BASED = 1


def nearest(name, names):
    """The most similar name, or None."""
    return next(iter(difflib.get_close_matches(str(name), [str(n) for n in names], 1)), None)


def hint(name, names):
    """"; did you mean "X"?", or nothing."""
    found = nearest(name, names)
    return f"; did you mean \"{found}\"?" if found else ""


def unknown(kind, given, names):
    """What is said of names that do not exist: for each the nearest one, then all that exist."""
    near = [nearest(n, names) for n in given]
    each = [f"\"{n}\"" + (f" (did you mean \"{x}\"?)" if x else "") for n, x in zip(given, near)]
    return f"there is no {kind} {', '.join(each)}; there {'is' if len(names) == 1 else 'are'} {', '.join(map(str, names)) or 'none'}"


# ---- fields ----


def _text(value):
    return os.fspath(value)


def _flag(value):
    if not isinstance(value, (bool, int)) and type(value).__name__ != "bool_":
        raise TypeError("True or False is expected")
    return bool(value)


def _optional(value):
    return None if value is None else _text(value)


class _Fields:
    """An object with the fields of the table FIELDS, {name: (default, conversion)}, and no others."""

    FIELDS = {}

    def __init__(self):
        self._config = {}
        for name, (default, _) in self.FIELDS.items():
            object.__setattr__(self, name, default)

    def __setattr__(self, name, value):
        if name.startswith("_"):
            return object.__setattr__(self, name, value)
        kind = type(self).__name__
        if name not in self.FIELDS:
            known = [*self.FIELDS, *(n for n in dir(type(self)) if not n.startswith("_") and n != "FIELDS")]
            raise AttributeError(f"{kind} has no option \"{name}\"{hint(name, known)}")
        try:
            value = self.FIELDS[name][1](value)
        except (TypeError, ValueError) as e:
            raise type(e)(f"{kind}.{name}: {value!r} is given, {e}") from None
        object.__setattr__(self, name, value)

    def __getattr__(self, name):  # an unknown name
        known = [n for n in (*self.FIELDS, *dir(type(self))) if not n.startswith("_")]
        raise AttributeError(f"{type(self).__name__} has no option \"{name}\"{hint(name, known)}")

    def _set_config(self, kind, table, key, value):
        for name, text in ("key", key), ("value", value):
            if not isinstance(text, str):
                raise TypeError(f"{kind}: the {name} is {text!r}, a str is expected")
        if key in table and value not in table[key]:
            raise Unsupported(f"{kind} \"{key}\": {value!r} is not supported; "
                              + (f"there is {', '.join(map(repr, table[key]))}" if table[key] else "Wick has nothing for it"))
        if key not in table:
            warnings.warn(f"{kind} \"{key}\" has no effect in Wick{hint(key, table)}", stacklevel=3)
        self._config[key] = value

    def _get_config(self, kind, key):
        if key not in self._config:
            raise InvalidArgument(f"{kind} \"{key}\" was not set{hint(key, self._config)}")
        return self._config[key]


class _Any:
    """Values of an entry that has no effect on results."""

    def __contains__(self, value):
        return True


_ANY = _Any()

# ONNX Runtime's configuration keys, and the values that lose nothing.
_SESSION_CONFIG = {
    "session.set_denormal_as_zero": ("0",),
    "session.load_model_format": ("", "ONNX"),
    "session.save_model_format": _ANY,  # of optimized_model_filepath, which is refused
    "session.model_external_initializers_file_folder_path": (),
    "session.strict_shape_type_inference": _ANY,
    "session.disable_cpu_ep_fallback": ("0",),
    "session.dynamic_block_base": _ANY,
    "session.disable_prepacking": _ANY,
    "session.use_env_allocators": _ANY,
    "session.use_device_allocator_for_initializers": _ANY,
    "session.use_ort_model_bytes_directly": _ANY,
    "session.use_ort_model_bytes_for_initializers": _ANY,
    "session.disable_quant_qdq": _ANY,
    "session.disable_double_qdq_remover": _ANY,
    "session.enable_quant_qdq_cleanup": _ANY,
    "session.disable_aot_function_inlining": _ANY,
    "session.inter_op.allow_spinning": _ANY,
    "session.intra_op.allow_spinning": _ANY,
    "session.force_spinning_stop": _ANY,
    "session.intra_op_thread_affinities": _ANY,
    "session.inter_op_thread_affinities": _ANY,
    "session.qdqisint8allowed": _ANY,
    "session.x64quantprecision": _ANY,
    "session.qdq_matmulnbits_accuracy_level": _ANY,
    "session.allow_released_opsets_only": _ANY,
    "session.debug_layout_transformation": _ANY,
    "session.node_partition_config_file": (),
    "session.collect_node_memory_stats_to_file": (),
    "session.optimized_model_external_initializers_file_name": (),
    "session.optimized_model_external_initializers_min_size_in_bytes": _ANY,
    "session.save_external_prepacked_constant_initializers": ("0",),
    "optimization.enable_gelu_approximation": _ANY,
    "optimization.disable_specified_optimizers": _ANY,
    "optimization.minimal_build_optimizations": ("",),
    "optimization.memory_optimizer_config": _ANY,
    "optimization.enable_memory_probe_recompute_config": _ANY,
    "mlas.enable_gemm_fastmath_arm64_bfloat16": _ANY,
    "ep.context_enable": ("0",),
    "ep.context_file_path": (),
}

_RUN_CONFIG = {
    "memory.enable_memory_arena_shrinkage": _ANY,
    "disable_synchronize_execution_providers": _ANY,
    "kv_cache_offset": (),
    "gpu_graph_id": _ANY,
    "ep.dynamic.workload_type": _ANY,
}


def _refused(name, why):
    def method(self, *args, **named):
        raise Unsupported(f"{type(self).__name__}.{name}: {why}")
    method.__name__ = name
    method.__doc__ = f"Not supported: {why}."
    return method


def _no_file(value):
    if _text(value):
        raise Unsupported("SessionOptions.optimized_model_filepath: Wick writes no model after optimization; "
                          "`wick convert` writes ONNX, `wick compile` an artifact")
    return ""


class SessionOptions(_Fields):
    """ONNX Runtime's options, and Wick's own: precision ("bf16", "f16", "f64"), strict, target, tune, cache, tuning,
    allow_links.

    Of ONNX Runtime's options, only intra_op_num_threads and enable_profiling have an effect in Wick. Any other name is
    an AttributeError.
    """

    FIELDS = {
        "intra_op_num_threads": (0, operator.index),
        "inter_op_num_threads": (0, operator.index),
        "enable_profiling": (False, _flag),
        "profile_file_prefix": ("wick_profile", _text),
        "graph_optimization_level": (GraphOptimizationLevel.ORT_ENABLE_ALL, GraphOptimizationLevel),
        "execution_mode": (ExecutionMode.ORT_SEQUENTIAL, ExecutionMode),
        "execution_order": (ExecutionOrder.DEFAULT, ExecutionOrder),
        "log_severity_level": (2, operator.index),
        "log_verbosity_level": (0, operator.index),
        "logid": ("", _text),
        "enable_mem_pattern": (True, _flag),
        "enable_cpu_mem_arena": (True, _flag),
        "enable_mem_reuse": (True, _flag),
        "use_deterministic_compute": (True, _flag),
        "use_per_session_threads": (True, _flag),
        "optimized_model_filepath": ("", _no_file),
        "precision": (None, _optional),
        "strict": (False, _flag),
        "target": (None, _optional),
        "tune": (None, _optional),
        "cache": (None, _optional),
        "tuning": (None, _optional),
        "allow_links": (False, _flag),
    }

    def __init__(self):
        super().__init__()
        self._sizes = {}

    def add_free_dimension_override_by_name(self, name, size):
        """Sets the dynamic size of that name to this number: the code is compiled only for it."""
        self._sizes[name] = operator.index(size)

    def add_session_config_entry(self, key, value):
        self._set_config("the session config entry", _SESSION_CONFIG, key, value)

    def get_session_config_entry(self, key):
        return self._get_config("the session config entry", key)

    def has_providers(self):
        return False

    add_free_dimension_override_by_denotation = _refused(
        "add_free_dimension_override_by_denotation", "sizes are known by name: add_free_dimension_override_by_name")
    add_initializer = _refused("add_initializer", "a model's initializers cannot be replaced")
    add_external_initializers = _refused("add_external_initializers", "a model's initializers cannot be replaced")
    add_external_initializers_from_files_in_memory = _refused(
        "add_external_initializers_from_files_in_memory", "external data are read from the files that the model names")
    register_custom_ops_library = _refused("register_custom_ops_library", "Wick has no custom operators")
    add_provider = _refused("add_provider", "there is one provider, CPUExecutionProvider, and it is always there")

    def _compile(self):
        return {"threads": max(0, self.intra_op_num_threads), "precision": self.precision, "strict": self.strict,
                "target": self.target, "tune": self.tune, "cache": self.cache, "tuning": self.tuning}


class RunOptions(_Fields):
    """ONNX Runtime's options of a run: with `terminate` it ends at once, with wick.Canceled; others have no effect."""

    FIELDS = {
        "log_severity_level": (2, operator.index),
        "log_verbosity_level": (0, operator.index),
        "logid": ("", _text),
        "only_execute_path_to_fetches": (False, _flag),
        "terminate": (False, _flag),
    }

    def add_run_config_entry(self, key, value):
        self._set_config("the run config entry", _RUN_CONFIG, key, value)

    def get_run_config_entry(self, key):
        return self._get_config("the run config entry", key)

    add_active_adapter = _refused("add_active_adapter", "Wick has no adapters")


def expected(what, value, kind):
    """The value, an object of that class; the default one for None."""
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise TypeError(f"{what}: a wick.{kind.__name__} is expected, {type(value).__module__}.{type(value).__name__} is given")
    return value


# ---- providers ----

PROVIDERS = ["CPUExecutionProvider"]
_PROVIDER_OPTIONS = {"CPUExecutionProvider": ("use_arena", "arena_extend_strategy")}


def providers_of(providers, provider_options):
    """The providers among these that exist, or all if none does; warns of each that does not."""
    given = list(PROVIDERS if providers is None else providers)
    names = [p if isinstance(p, str) else p[0] for p in given]
    options = [{} if isinstance(p, str) else dict(p[1]) for p in given]
    if provider_options is not None:
        if len(provider_options) != len(given):
            raise InvalidArgument(f"provider_options has {len(provider_options)} elements, providers has {len(given)}")
        options = [{**a, **dict(b)} for a, b in zip(options, provider_options)]
    absent = [n for n in names if n not in PROVIDERS]
    for name in absent:
        warnings.warn(f"there is no provider {name}{hint(name, PROVIDERS)}; the model runs on the CPU", stacklevel=4)
    for name, o in zip(names, options):
        known = _PROVIDER_OPTIONS.get(name, o)
        wrong = [k for k in o if k not in known]
        if wrong:
            raise InvalidArgument(unknown(f"option of {name}", wrong, known))
    return [n for n in names if n in PROVIDERS] or list(PROVIDERS)
