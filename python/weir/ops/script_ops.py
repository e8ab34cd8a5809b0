"""tf.py_func: a Python function as an operation."""

import itertools
import weakref

from weir.framework import dtypes
from weir.framework.op_functions import apply
from weir.framework.stack import get_default_graph as _graph
from weir.ops import public_names

_functions = weakref.WeakValueDictionary()  # token: _Function; graphs keep them alive
_tokens = itertools.count()


class _Function:
    def __init__(self, function):
        self.call = function


def py_func(func, inp, Tout, stateful=True, name=None):
    """Calls ``func`` with the values of ``inp`` as arrays when it runs; its results have the types ``Tout``."""
    if not callable(func):
        raise ValueError(f"py_func expected func to be callable, got func={func}")
    graph, token, function = _graph(), f"pyfunc_{next(_tokens)}", _Function(func)
    _functions[token] = function
    graph.__dict__.setdefault("_py_functions", []).append(function)
    is_list = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(t).base_dtype for t in (Tout if is_list else [Tout])]
    result = apply("PyFunc" if stateful else "PyFuncStateless", (list(inp),), {"token": token, "Tout": types}, name)
    return result if is_list else result[0]


def numpy_function(func, inp, Tout, name=None):
    return py_func(func, inp, Tout, stateful=True, name=name)


def _call_function(token, arguments, types):
    """Results of the function ``token`` for Session.run: one for each type."""
    function = _functions.get(token)
    if function is None:
        raise ValueError(f"callback {token} is not found: its graph came from another process")
    numpy = dtypes._numpy()
    result = function.call(*arguments)
    results = [] if result is None else list(result) if isinstance(result, (list, tuple)) else [result]
    if len(results) != len(types):
        raise ValueError(f"the function of py_func gave {len(results)} results; {len(types)} were expected")
    converted = []
    for value, dtype in zip(results, types):
        array = numpy.asarray(value, order="C")
        if dtype == dtypes.as_dtype("string") or array.dtype.kind in "SUO":
            converted.append(array)
        else:
            converted.append(array.astype(dtype.as_numpy_dtype, copy=False))
    return converted


__all__ = public_names(globals())
