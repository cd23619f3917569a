"""Names of jax.experimental."""
from wick.experimental import ode  # noqa: F401
