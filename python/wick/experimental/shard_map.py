"""Names of jax.experimental.shard_map."""
from wick.sharding import shard_map  # noqa: F401
