"""Types of the extension module; users import wick."""
from typing import Any

VERSION_MAJOR: int
VERSION_MINOR: int

Io = tuple[str, str, tuple[int, ...], tuple[str, ...]]

class Error(Exception): ...

class Context: ...

class Model:
    def __init__(self, path: Any, bytes: Any = None, allow_links: bool = False) -> None: ...
    inputs: tuple[Io, ...]
    outputs: tuple[Io, ...]
    overridable: tuple[Io, ...]
    metadata: dict[str, str]
    needs_shapes: bool
    def override(self, names: tuple[str, ...]) -> None: ...
    def grad(self, of: str | None, wrt: tuple[str, ...], cotangent: bool) -> None: ...
    def compile(self, shapes: dict[str, Any], sizes: dict[str, int], ranges: dict[str, tuple[int, int, int]], dynamic: bool, specialize_dims: dict[str, tuple[int, ...]], specialize_inputs: tuple[tuple[str, Any], ...], contents: dict[str, Any], target: str | None,
                tune: str | None, precision: str | None, tuning: str | None, cache: str | None, strict: bool,
                jobs: int, auto_specialize: int) -> Compiled: ...

class Compiled:
    inputs: tuple[Io, ...]
    outputs: tuple[Io, ...]
    required_inputs: tuple[bytes | None, ...]
    metadata: dict[str, str]
    contract: str
    cached: bool
    memory: tuple[int, int, int]
    kernels: tuple[tuple[str, str, str, int, int, int, int, str], ...]
    sizes: tuple[tuple[str, int, int], ...]
    profile: list[tuple[tuple[int, ...], int, str, str, str, int, int, dict[str, bytes], dict[str, bytes]]]
    flow: list[tuple[str, int, int] | tuple[str, int, int, int, int]]
    @staticmethod
    def load(path: Any) -> Compiled: ...
    def save(self, path: Any) -> None: ...
    def wait(self) -> None: ...

class Session:
    def __init__(self, compiled: Compiled, threads: int = 0, profile: bool = False) -> None: ...
    threads: int
    times: list[tuple[int, int]]
    def run(self, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None: ...
    def shape(self, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]: ...

class Tensor:
    shape: tuple[int, ...]
    dtype: tuple[int, int]

def addresses(strings: list[str | bytes]) -> bytearray: ...
def texts(buffer: Any) -> list[str]: ...
def dicts(keys: tuple[Any, ...], order: tuple[int, ...], rows: Any) -> list[dict[Any, float]]: ...
def from_dlpack(capsule: Any) -> Tensor: ...
def to_dlpack(buffer: Any, shape: tuple[int, ...], code: int, bits: int) -> Any: ...
