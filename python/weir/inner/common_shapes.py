"""tensorflow.python.framework.common_shapes: what shapes become of each other."""

from weir.core.tensor_shape import TensorShape, as_shape


def _pairs(first, second):
    """The sizes of both shapes from the last on, 1 where one of them has no more."""
    rank = max(first.ndims, second.ndims)
    padded = [[1] * (rank - shape.ndims) + shape.as_list() for shape in (first, second)]
    return list(zip(*padded))


def broadcast_shape(shape_x, shape_y):
    """What two shapes broadcast to. ValueError when they do not."""
    first, second = as_shape(shape_x), as_shape(shape_y)
    if first.ndims is None or second.ndims is None:
        return TensorShape(None)
    sizes = []
    for x, y in _pairs(first, second):
        if x is None or y is None:
            # A size above one decides, because the other must be that or one.
            known = y if x is None else x
            sizes.append(known if known is not None and known > 1 else None)
        elif 1 in (x, y) or x == y:
            sizes.append(y if x == 1 else x)
        else:
            raise ValueError(f"Incompatible shapes for broadcasting: {first} and {second}")
    return TensorShape(sizes)


def is_broadcast_compatible(shape_x, shape_y):
    """Whether two shapes may broadcast together; False when the rank of one is not known."""
    first, second = as_shape(shape_x), as_shape(shape_y)
    if first.ndims is None or second.ndims is None:
        return False
    return all(x == y or None in (x, y) or 1 in (x, y) for x, y in _pairs(first, second))


def has_fully_defined_shape(tensor):
    return tensor.get_shape().is_fully_defined()


def rank(tensor):
    """The rank of a tensor if it is known, else None."""
    return tensor.get_shape().ndims


def call_cpp_shape_fn(op, require_shape_fn=True):
    """The shapes of the outputs, as the operation itself has inferred them."""
    return {"shapes": [output.shape for output in op.outputs]}


def unknown_shape(op):
    """The shape function of an operation of whose outputs nothing is known."""
    return [TensorShape(None) for _ in op.outputs]


def scalar_shape(unused_op):
    """The shape function of an operation whose output is a scalar."""
    return [TensorShape([])]


def unchanged_shape(op):
    """... whose output has the shape of its input."""
    return [op.inputs[0].get_shape()]
