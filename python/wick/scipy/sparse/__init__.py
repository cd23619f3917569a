"""Names of jax.scipy.sparse."""
from wick.scipy.sparse import linalg  # noqa: F401
