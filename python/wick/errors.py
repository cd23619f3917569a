"""Exceptions. Each message names the location in the user's model, what was found, what was expected."""
from wick import _core


class WickError(Exception):
    """What went wrong in Wick; `code` is the name of libwick's code."""

    code = "EINTERNAL"


class InvalidArgument(WickError, ValueError):
    """An argument of the call is wrong: a name, a shape, a type, an option."""

    code = "EINVAL"


class InvalidModel(WickError, ValueError):
    """The model's bytes or its text are wrong."""

    code = "EPARSE"


class TypeMismatch(WickError, TypeError):
    """Types, shapes or attributes do not fit together."""

    code = "ETYPE"


class OutOfRange(WickError, IndexError):
    """A number is outside its range, or an index at run time."""

    code = "ERANGE"


class Unsupported(WickError, NotImplementedError):
    """Understood, but Wick cannot do it yet."""

    code = "EUNSUPPORTED"


class LimitReached(WickError):
    """A limit of nodes, bytes, seconds or depth was reached."""

    code = "ELIMIT"


class OutOfMemory(WickError, MemoryError):
    code = "ENOMEM"


class SystemRefused(WickError, OSError):
    """The operating system refused; the message has its reason."""

    code = "EIO"


class Canceled(WickError):
    code = "ECANCELED"


class Bug(WickError):
    """A bug in Wick: please report it with the model."""

    code = "EINTERNAL"


# In the order of wick_code, without WICK_OK.
_BY_CODE = (None, InvalidArgument, InvalidModel, TypeMismatch, OutOfRange, Unsupported, LimitReached,
            OutOfMemory, SystemRefused, Canceled, Bug)


def raised(call, *args):
    """call(*args); libwick's errors become the exceptions of this module."""
    try:
        return call(*args)
    except _core.Error as e:
        code, message = e.args
        raise (_BY_CODE[code] if 0 < code < len(_BY_CODE) else Bug)(message) from None
