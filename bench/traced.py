"""The programs of tests/trace in Wick and in jax.jit: time of a call, and of tracing and compiling.

    python bench/traced.py [--seconds 0.3] [--threads 1] [NAME ...]        (needs jax in the environment)"""
import argparse
import os
import pathlib
import sys
import tempfile
import time

threads = sys.argv[sys.argv.index("--threads") + 1] if "--threads" in sys.argv else "1"
if threads == "1":
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(threads)])
os.environ["WICK_CACHE_DIR"] = tempfile.mkdtemp()
root = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(root / "tests" / "trace"), str(root / "build" / "python")]

import jax  # noqa: E402
import jax.experimental.ode  # noqa: E402, F401
import jax.flatten_util  # noqa: E402, F401
import jax.ops  # noqa: E402, F401
import jax.scipy.cluster.vq  # noqa: E402, F401
import jax.scipy.fft  # noqa: E402, F401
import jax.scipy.integrate  # noqa: E402, F401
import jax.scipy.interpolate  # noqa: E402, F401
import jax.scipy.linalg  # noqa: E402, F401
import jax.scipy.ndimage  # noqa: E402, F401
import jax.scipy.optimize  # noqa: E402, F401
import jax.scipy.signal  # noqa: E402, F401
import jax.scipy.sparse.linalg  # noqa: E402, F401
import jax.scipy.stats  # noqa: E402, F401
import numpy as np  # noqa: E402

import wick  # noqa: E402
import programs_fields  # noqa: E402, F401
import programs_fits  # noqa: E402, F401
import programs_forms  # noqa: E402, F401
import programs_idioms  # noqa: E402, F401
import programs_kinds  # noqa: E402, F401
import programs_learning  # noqa: E402, F401
import programs_methods  # noqa: E402, F401
import programs_models  # noqa: E402, F401
import programs_names  # noqa: E402, F401
import programs_practice  # noqa: E402, F401
import programs_science  # noqa: E402, F401
import programs_spectral  # noqa: E402, F401
import programs_tutorials  # noqa: E402, F401
import programs_unusual  # noqa: E402, F401
import programs_users  # noqa: E402, F401
from trace_programs import PROGRAMS, namespace  # noqa: E402

JAX, WICK = namespace(jax), namespace(wick)


def best(f, seconds):
    """The least time of a call, in microseconds."""
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        t = time.perf_counter()
        f()
        times.append(time.perf_counter() - t)
    return min(times) * 1e6


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=0.3)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("names", nargs="*")
    o = options.parse_args()
    rows = []
    print(f"{'program':28} {'wick us':>9} {'jax us':>9} {'ratio':>6} {'compile':>8} {'jax':>8} {'ratio':>6}")
    for name in o.names or PROGRAMS:
        p = PROGRAMS[name]
        arguments = p.arguments(np.random.default_rng(len(name)))
        made = []
        for j, jit in ((WICK, lambda f: wick.function(f, threads=o.threads)), (JAX, jax.jit)):
            given = arguments if j is WICK else jax.tree_util.tree_map(jax.numpy.asarray, arguments)
            f = jit(p.build(j))
            t = time.perf_counter()
            jax.block_until_ready(f(*given))
            compiled = time.perf_counter() - t
            made.append((best(lambda: jax.block_until_ready(f(*given)), o.seconds), compiled * 1e3))
        (a, c), (b, d) = made
        rows.append((a / b, c / d))
        print(f"{name:28} {a:9.1f} {b:9.1f} {a / b:6.2f} {c:8.1f} {d:8.1f} {c / d:6.2f}", flush=True)
    slow, late = [[n for n, r in zip(o.names or PROGRAMS, rows) if r[k] > limit] for k, limit in ((0, 1.2), (1, 0.5))]
    print(f"over 1.2: {len(slow)} ({', '.join(slow)}); compiled in over 0.5: {len(late)}")
    print(f"geometric mean: time {np.exp(np.mean(np.log([r[0] for r in rows]))):.2f}, compile {np.exp(np.mean(np.log([r[1] for r in rows]))):.2f}")


main()
