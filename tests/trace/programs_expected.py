"""Writes programs_expected.npz: what JAX gives for the programs that have no oracle of their own: the shapes, and of large
arrays 200 elements. Needs jax 0.7 or later.

    python tests/trace/programs_expected.py [--new]      --new keeps the results that the file has"""
import pathlib
import sys

import jax
import jax.experimental.ode  # noqa: F401
import jax.flatten_util  # noqa: F401
import jax.ops  # noqa: F401
import jax.scipy.cluster.vq  # noqa: F401
import jax.scipy.integrate  # noqa: F401
import jax.scipy.fft  # noqa: F401
import jax.scipy.interpolate  # noqa: F401
import jax.scipy.linalg  # noqa: F401
import jax.scipy.ndimage  # noqa: F401
import jax.scipy.optimize  # noqa: F401
import jax.scipy.signal  # noqa: F401
import jax.scipy.sparse.linalg  # noqa: F401
import jax.scipy.stats  # noqa: F401
import numpy as np

import programs_fields  # noqa: F401
import programs_fits  # noqa: F401
import programs_forms  # noqa: F401
import programs_idioms  # noqa: F401
import programs_kinds  # noqa: F401
import programs_learning  # noqa: F401
import programs_methods  # noqa: F401
import programs_models  # noqa: F401
import programs_names  # noqa: F401
import programs_practice  # noqa: F401
import programs_science  # noqa: F401
import programs_spectral  # noqa: F401
import programs_tutorials  # noqa: F401
import programs_unusual  # noqa: F401
import programs_users  # noqa: F401
from trace_programs import PROGRAMS, namespace, sample

PATH = pathlib.Path(__file__).with_suffix(".npz")
names, shapes, values = [], [], []
if "--new" in sys.argv:
    kept = np.load(PATH)
    names, shapes, values = kept["names"].tolist(), kept["shapes"].tolist(), [kept["values"]]
known = set(names)
for name, p in PROGRAMS.items():
    if p.oracle is None and name not in known:
        arguments = jax.tree.map(jax.numpy.asarray, p.arguments(np.random.default_rng(len(name))))
        for x in jax.tree.leaves(jax.jit(p.build(namespace(jax)))(*arguments)):
            names.append(name)
            shapes.append(" ".join(map(str, x.shape)))
            values.append(sample(np.asarray(x)).astype(np.float32))
np.savez_compressed(PATH, names=names, shapes=shapes, values=np.concatenate(values))
print(len(PROGRAMS), "programs,", len(names), "results")
