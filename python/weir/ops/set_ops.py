"""Sets: the last dimension of a tensor, dense or sparse, holds the elements of a set."""

from weir.core.graph import convert_to_tensor
from weir.core.op_functions import apply
from weir.ops.sparse_ops import SparseTensor

_SWAPPED = {"a-b": "b-a", "b-a": "a-b"}
_KINDS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "string")


def _checked(a, b=None):
    a = a if isinstance(a, SparseTensor) else convert_to_tensor(a, name="a")
    if a.dtype.base_dtype.name not in _KINDS:
        raise TypeError(f"'a' invalid dtype {a.dtype}.")
    if b is None:
        return a
    b = b if isinstance(b, SparseTensor) else convert_to_tensor(b, name="b")
    if b.dtype.base_dtype != a.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    return a, b


def _combined(a, b, operation, validate_indices):
    a, b = _checked(a, b)
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        # There is no operation of its own for this order.
        a, b, operation = b, a, _SWAPPED.get(operation, operation)
    attrs = {"set_operation": operation, "validate_indices": validate_indices}
    kinds = ["Sparse" if isinstance(each, SparseTensor) else "Dense" for each in (a, b)]
    inputs = [part for each in (a, b)
              for part in ((each.indices, each.values, each.dense_shape) if isinstance(each, SparseTensor) else (each,))]
    return SparseTensor(*apply(f"{kinds[0]}To{kinds[1]}SetOperation", tuple(inputs), attrs, None))


def set_size(a, validate_indices=True):
    """How many different elements each set has."""
    a = _checked(a)
    if not isinstance(a, SparseTensor):
        raise TypeError("Expected `SparseTensor`, got %s." % a)
    return apply("SetSize", (a.indices, a.values, a.dense_shape), {"validate_indices": validate_indices}, None)


def set_intersection(a, b, validate_indices=True):
    """The elements that are in both."""
    return _combined(a, b, "intersection", validate_indices)


def set_difference(a, b, aminusb=True, validate_indices=True):
    """The elements of one that are not in the other."""
    return _combined(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a, b, validate_indices=True):
    """The elements of either."""
    return _combined(a, b, "union", validate_indices)
