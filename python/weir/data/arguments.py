"""What nodes of data sets are made with: numbers, seeds, and types and shapes of elements."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import DEFAULT_GRAPH_SEED, convert_to_tensor, get_seed, name_scope
from weir.core.stack import get_default_graph
from weir.core.tensor import Tensor
from weir.data import structure
from weir.ops import array_ops, math_ops


def int64_argument(value, name, default=None):
    """A number of the program as an int64 tensor."""
    if value is None:
        return array_ops.constant(default, dtype=dtypes.int64, name=name)
    return convert_to_tensor(value, dtype=dtypes.int64, name=name)


def seeds(seed):
    """The two seeds of a pipeline's random operation, as tensors."""
    if isinstance(seed, Tensor):
        first = _graph_seed()
        second = math_ops.floormod(seed, 2**31 - 1)
    else:
        first, second = get_seed(seed)
    if first is None:
        return (array_ops.constant(0, dtype=dtypes.int64, name="seed"),
                array_ops.constant(0, dtype=dtypes.int64, name="seed2"))
    first = convert_to_tensor(first, dtype=dtypes.int64, name="seed")
    with name_scope("seed2") as scope:
        second = convert_to_tensor(second, dtype=dtypes.int64)
        second = array_ops.where(math_ops.logical_and(math_ops.equal(first, 0), math_ops.equal(second, 0)),
                                 array_ops.constant(2**31 - 1, dtype=dtypes.int64), second, name=scope)
    return first, second


def _graph_seed():
    seed = get_default_graph().seed
    return DEFAULT_GRAPH_SEED if seed is None else seed % (2**31 - 1)


def flat(spec):
    return {"output_types": structure.flat_types(spec), "output_shapes": structure.flat_shapes(spec)}


def known_batch(size, drop_remainder):
    """The first dimension of batches, when all have it."""
    drop = _weir.constant_value(drop_remainder)
    value = _weir.constant_value(size)
    return int(value) if drop is not None and bool(drop) and value is not None else None
