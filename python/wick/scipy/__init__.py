"""Names of jax.scipy: special functions, linear algebra, distributions."""
from wick.scipy import linalg, signal, special, stats  # noqa: F401
