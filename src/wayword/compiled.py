"""Numba with a cache on disk that notices every change, and without one where no folder can be written.

Numba compiles constants and called kernels into a kernel, but keys its cache by the kernel's own file and bytecode:
change a constant that stands elsewhere, and the old one goes on flying. Here the key also has a digest of all that is
compiled in, computed when the kernel is first called:

    digest(kernel) = sha256(options, bytecode, constants, and for every global it names: its value, or its digest)
"""

from __future__ import annotations

import dis
import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
OF_NUMBA = ("builtins", "math", "cmath", "numpy", "numba")
"""Functions and types of these are numba's to compile: they change with its version, which its cache notices."""


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` with a cache; on a read-only installation the function is compiled in every process."""

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = njit(**options)(function)
        if not hasattr(kernel, "py_func"):  # NUMBA_DISABLE_JIT=1, for debuggers: the function as it stands
            return kernel
        with suppress(RuntimeError):  # numba: no locator available, nowhere to put the cache
            kernel._cache = _Cache(kernel)  # as cache=True does, with our key
        return kernel

    return decorate


def kernel_digest(kernel: Any) -> str:
    """What is compiled into a kernel, itself and all that it calls, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in _of_value(kernel, set()):
        digest.update(f"{len(part)} {part}".encode())
    return digest.hexdigest()


class _Cache(FunctionCache):  # type: ignore[misc]
    """Compiled code on disk, found again by what was compiled."""

    def __init__(self, kernel: Any) -> None:
        super().__init__(kernel.py_func)  # type: ignore[no-untyped-call]
        self._kernel = kernel

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        # Not before: a kernel may name what is defined further down in its file.
        key: tuple[Any, ...] = super()._index_key(sig, codegen)  # type: ignore[no-untyped-call]
        return (*key, kernel_digest(self._kernel))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled; on a full disk it is compiled again next time, which is no reason not to fly."""
        with suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]


def _of_value(value: Any, known: set[int]) -> Iterator[str]:
    """A value that compiled code names, in words that change when it does."""
    if isinstance(value, PLAIN):
        yield repr(value)
    elif isinstance(value, tuple):
        yield f"{type(value).__qualname__} of {len(value)}"
        for item in value:
            yield from _of_value(item, known)
    elif isinstance(value, np.ndarray | np.generic):
        yield f"{value.dtype.descr} {value.shape} {value.tobytes().hex()}"
    elif isinstance(value, Dispatcher):
        yield repr(sorted((name, _in_order(option)) for name, option in value.targetoptions.items()))
        yield from _of_function(value.py_func, known)
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, np.ufunc) or str(getattr(value, "__module__", "")).split(".")[0] in OF_NUMBA:
        yield f"{type(value).__name__} {getattr(value, '__qualname__', value)}"
    elif isinstance(value, FunctionType):
        yield from _of_function(value, known)
    else:
        raise TypeError(
            f"a kernel cannot be compiled with {value!r}, a {type(value).__name__}: nothing would notice its change"
        )


def _of_function(function: FunctionType, known: set[int]) -> Iterator[str]:
    """A function's code, the arguments it has by default, and all that it names."""
    if id(function) in known:  # it was described further up, or calls itself
        yield f"again {function.__qualname__}"
        return
    known.add(id(function))
    yield from _of_value(function.__defaults__, known)
    yield from _of_code(function.__code__)
    for value in _named(function, function.__code__):
        yield from _of_value(value, known)
    for cell in function.__closure__ or ():
        yield from _of_value(cell.cell_contents, known)


def _of_code(code: CodeType) -> Iterator[str]:
    """Bytecode with the names and constants that it refers to by number."""
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _of_code(constant)
        else:
            yield repr((type(constant).__name__, _in_order(constant)))


def _named(function: FunctionType, code: CodeType) -> Iterator[Any]:
    """Every global that code names; of a module, what is taken from it."""
    names, value, pending = function.__globals__, None, False
    for step in dis.get_instructions(code):
        if pending and isinstance(value, ModuleType) and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            value = getattr(value, step.argval, None)
            continue
        if pending:
            yield value
        pending = step.opname == "LOAD_GLOBAL"
        if pending:
            builtins = names["__builtins__"]
            known = builtins if isinstance(builtins, dict) else vars(builtins)
            value = names.get(step.argval, known.get(step.argval))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _named(function, constant)


def _in_order(value: Any) -> Any:
    """Sets have no order of their own that lasts longer than a process."""
    return sorted(map(repr, value)) if isinstance(value, set | frozenset) else value
