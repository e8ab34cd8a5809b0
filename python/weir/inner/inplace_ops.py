"""tensorflow.python.ops.inplace_ops: rows of a tensor that get other values, one after another."""

from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.op_functions import apply
from weir.ops import array_ops


def _change(kind, x, i, v):
    """The operation on a tensor ``x``: on all of it where ``i`` is None, on one row where it is a number, else on rows."""
    x = convert_to_tensor(x)
    v = convert_to_tensor(v, x.dtype.base_dtype)
    if i is None:
        flat = [array_ops.reshape(part, [1, -1]) for part in (x, v)]
        return array_ops.reshape(apply(kind, (flat[0], [0], flat[1]), {}, None), array_ops.shape(x))
    i = convert_to_tensor(i, dtypes.int32)
    if i.shape.ndims == 0:
        i, v = array_ops.reshape(i, [1]), array_ops.expand_dims(v, 0)
    return apply(kind, (x, i, v), {}, None)


def _copy(x):
    return apply("DeepCopy", (convert_to_tensor(x),), {}, None)


def alias_inplace_update(x, i, v):
    """``x`` with ``x[i] = v``. Values never change here; the memory of ``x`` is used again where nobody else reads it."""
    return _change("InplaceUpdate", x, i, v)


def alias_inplace_add(x, i, v):
    return _change("InplaceAdd", x, i, v)


def alias_inplace_sub(x, i, v):
    return _change("InplaceSub", x, i, v)


def inplace_update(x, i, v):
    return alias_inplace_update(_copy(x), i, v)


def inplace_add(x, i, v):
    return alias_inplace_add(_copy(x), i, v)


def inplace_sub(x, i, v):
    return alias_inplace_sub(_copy(x), i, v)


def empty(shape, dtype, init=False):
    """A tensor with whatever its memory holds, or with zeros."""
    return apply("Empty", (shape,), {"dtype": dtypes.as_dtype(dtype), "init": init}, None)


def empty_like(x, init=None):
    x = convert_to_tensor(x)
    return empty(array_ops.shape(x), x.dtype.base_dtype, bool(init))
