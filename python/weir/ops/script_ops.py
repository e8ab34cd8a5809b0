"""tf.py_func: a Python function as an operation."""

import functools
import itertools
import traceback
import weakref

from weir import errors
from weir.core import dtypes
from weir.core.op_functions import apply

_functions = weakref.WeakValueDictionary()  # token: _Function; graphs keep them alive
_tokens = itertools.count()

# What exceptions of a function become, in this order; others are of an unknown kind.
_CODES = ((ValueError, errors.INVALID_ARGUMENT), (TypeError, errors.INVALID_ARGUMENT),
          (StopIteration, errors.OUT_OF_RANGE), (MemoryError, errors.RESOURCE_EXHAUSTED),
          (NotImplementedError, errors.UNIMPLEMENTED), (BaseException, errors.UNKNOWN))


class _Function:
    """Holds a function: builtins and functions of numpy cannot be referred to weakly."""

    def __init__(self, function):
        self.call = function


def py_func(func, inp, Tout, stateful=True, name=None):
    """Calls ``func`` with the values of ``inp`` when it runs; its results must have the types ``Tout``.

    The values come as ``Session.run`` returns them: arrays, numpy scalars, bytes.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    if not isinstance(inp, (list, tuple)):
        raise TypeError(f"Expected list for 'input' argument to 'py_func' Op, not {inp}.")
    is_list = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(t).base_dtype for t in (Tout if is_list else [Tout])]
    token, function = f"pyfunc_{next(_tokens)}", _Function(func)
    result = apply("PyFunc" if stateful else "PyFuncStateless", (list(inp),), {"token": token, "Tout": types}, name)
    graph = (result[0] if types else result).graph
    graph.__dict__.setdefault("_py_functions", []).append(function)
    _functions[token] = function
    if not types and not stateful:
        return []  # nothing that could be asked for
    return result if is_list else result[0]


class _PyFuncs:
    """The functions that graphs of this process call."""

    def size(self):
        return len(_functions)


_py_funcs = _PyFuncs()


def eager_py_func(func, inp, Tout, name=None):
    """``py_func``, for programs that call TensorFlow 1.15's ``py_function``: ``func`` gets arrays that have ``numpy()``."""
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    value = _value_class()
    return py_func(lambda *values: func(*map(value, values)), inp, Tout, stateful=True, name=name)


@functools.cache
def _value_class():
    """The class of the arrays that stand for the tensors whose values can be asked for at once."""
    import numpy

    class Value(numpy.ndarray):
        def __new__(cls, value):
            return numpy.asarray(value, object if isinstance(value, bytes) else None).view(cls)

        def numpy(self):
            """The array, or the scalar of numpy, or bytes."""
            return self.view(numpy.ndarray)[()]

    return Value


def numpy_function(func, inp, Tout, name=None):
    return py_func(func, inp, Tout, stateful=True, name=name)


def _call_function(token, arguments, types):
    """The results of the function ``token`` as arrays of ``types``; (code, message) when that fails."""
    function = _functions.get(token)
    if function is None:
        return errors.INVALID_ARGUMENT, f"ValueError: callback {token} is not found"
    try:
        result = function.call(*arguments)
        result = [] if result is None else result if isinstance(result, (list, tuple)) else [result]
        results = [_array(value) for value in result]
    except KeyboardInterrupt:  # is for the program that runs the session
        raise
    except BaseException as error:  # also SystemExit: a run ends with an error, not with the program
        return next(code for kind, code in _CODES if isinstance(error, kind)), _message(error)
    if len(results) != len(types):
        return (errors.INVALID_ARGUMENT,
                f"{token} returns {len(results)} values, but expects to see {len(types)} values.")
    for i, (array, dtype) in enumerate(zip(results, types)):
        if array.dtype.kind == "V":
            return errors.UNIMPLEMENTED, f"Unsupported numpy type {array.dtype.num}"
        if array.dtype.kind == "O":
            odd = [type(item).__name__ for item in array.flat if not isinstance(item, (str, bytes))]
            if odd:
                return errors.UNIMPLEMENTED, f"Unsupported object type {odd[0]}"
        given = "string" if array.dtype.kind in "SUO" else array.dtype.name
        wanted = {dtypes.bfloat16: "float32"}.get(dtype, dtype.name)  # which numpy lacks
        if given != wanted:
            return errors.INVALID_ARGUMENT, f"{i}-th value returned by {token} is {given}, but expects {wanted}"
    return results


def _array(value):
    array = dtypes._numpy().asarray(value, order="C")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _message(error):
    """The exception, and the lines of the function that led to it."""
    own = error.__traceback__.tb_next
    text = "".join(traceback.format_exception_only(type(error), error)).rstrip()
    if own is not None:
        text += "\nTraceback (most recent call last):\n\n" + "".join(traceback.format_tb(own))
    return text.encode("utf-8", "replace").decode()
