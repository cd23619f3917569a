"""Memory of results. That of large ones serves later runs as soon as nothing refers to it: to touch fresh pages takes longer
than many a kernel (4 ms for 38 MB), and the allocator gives large blocks back to the system each time."""

import collections
import math
import sys

import numpy as np

LARGE = 1 << 17  # bytes; the allocator keeps smaller blocks
KEPT = 2  # blocks of each output: one may still be read while the next run writes the other
LINE = 64  # bytes


def _references():
    """What getrefcount says of an object that only a local variable holds."""
    block = np.empty(0, np.uint8)
    return sys.getrefcount(block)


ALONE = _references()


def _block(nbytes):
    """Memory, and where its first line begins."""
    block = np.empty(nbytes, np.uint8)
    return block, -block.ctypes.data % LINE


class Results:
    """The memory of one output. Any number of threads may use it."""

    def __init__(self):
        self._kept = collections.deque(maxlen=KEPT)

    def array(self, shape, dtype):
        """An array with any contents, in memory that no other array has."""
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes < LARGE:
            return np.empty(shape, dtype)
        block, begin = self._unused(nbytes + LINE) or _block(nbytes + LINE)
        self._kept.append((block, begin))
        return np.ndarray(shape, dtype, block, begin)

    def _unused(self, nbytes):
        for _ in range(KEPT):
            try:
                block, begin = self._kept.pop()  # the last one used, which the caches have; no other thread takes it now
            except IndexError:
                return None
            if block.nbytes == nbytes:
                if sys.getrefcount(block) == ALONE:
                    return block, begin
                self._kept.appendleft((block, begin))
        return None
