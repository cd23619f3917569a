"""Names of jax.scipy: special functions, linear algebra, distributions, solutions and minima."""
from wick.scipy import cluster, fft, integrate, interpolate, linalg, ndimage, optimize, signal, sparse, special, stats  # noqa: F401
