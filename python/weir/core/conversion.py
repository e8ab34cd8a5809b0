"""Values into tensors."""

from weir import _weir
from weir.core import dtypes, stack
from weir.core.op_functions import apply
from weir.core.tensor import IndexedSlices, Tensor

_conversions = []  # (priority, type, function)


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    _conversions.append((priority, base_type, conversion_func))
    _conversions.sort(key=lambda row: row[0])


def _densify(slices, name=None):
    """A dense tensor of IndexedSlices whose dense shape is known."""
    if slices.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {slices}")
    first = slices.dense_shape[0]
    if first.dtype.base_dtype != slices.indices.dtype.base_dtype:
        first = _weir.cast(stack.get_default_graph(), first, slices.indices.dtype.base_dtype, None)
    return apply("UnsortedSegmentSum", (slices.values, slices.indices, first), {}, name)


def _convert(value, dtype, name):
    """A Tensor for an object that the extension does not know, or None."""
    if isinstance(value, IndexedSlices):
        return _densify(value, name or None)
    for _, base_type, function in _conversions:
        if isinstance(value, base_type):
            result = function(value, dtype=dtype, name=name, as_ref=False)
            if result is not NotImplemented:
                return result
    if hasattr(value, "_as_graph_element"):
        return value._as_graph_element()
    return None


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None, as_ref=False):
    """A Tensor of ``value``: itself, or a constant. Raises ValueError when it is one of another type."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype).base_dtype
    elif (preferred_dtype or dtype_hint) is not None and not isinstance(value, (Tensor, _weir.Variable)):
        try:
            return _weir.convert_to_tensor(stack.get_default_graph(), value,
                                           dtypes.as_dtype(preferred_dtype or dtype_hint).base_dtype, name)
        except (TypeError, ValueError):
            pass  # only preferred
    tensor = _weir.convert_to_tensor(stack.get_default_graph(), value, dtype, name)
    if dtype is not None and tensor.dtype.base_dtype != dtype:
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {tensor.dtype.name}: "
                         f"{str(tensor)!r}")
    return tensor


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    return value if isinstance(value, IndexedSlices) else convert_to_tensor(value, dtype, name)


def convert_n_to_tensor(values, dtype=None, name=None):
    return [convert_to_tensor(value, dtype, None if name is None else f"{name}_{i}") for i, value in enumerate(values)]
