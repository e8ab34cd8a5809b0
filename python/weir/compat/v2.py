"""tf.compat.v2: TensorFlow 2's names in TensorFlow 1.15, for libraries that serve both.

They are those of 1.15 but for the functions here and those that names.tsv gives a second form, whose arguments stand in
another order or mean something else.
"""

from weir import names as _names
from weir.core import conversion as _conversion, graph as _graph
from weir.core.dtypes import float32 as _float32, int32 as _int32, int64 as _int64
from weir.ops import (array_ops as _array_ops, control_flow_ops as _control_flow_ops, math_ops as _math_ops,
                      random_ops as _random_ops)


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    return _conversion.convert_to_tensor(value, dtype, name, dtype_hint=dtype_hint)


class name_scope(_graph.name_scope):
    """One whose name must be given."""

    def __init__(self, name):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        super().__init__(name)


def concat(values, axis, name="concat"):
    return _array_ops.concat(values, axis, name)


def transpose(a, perm=None, conjugate=False, name="transpose"):
    return _array_ops.transpose(a, perm, name, conjugate)


def boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    return _array_ops.boolean_mask(tensor, mask, name, axis)


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
               maximum_iterations=None, name=None):
    """Gives the structure of ``loop_vars`` back, also where it holds one tensor."""
    return _control_flow_ops.while_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop,
                                        swap_memory, name, maximum_iterations, return_same_structure=True)


def ones_like(input, dtype=None, name=None):
    return _array_ops.ones_like(input, dtype, name)


def zeros_like(input, dtype=None, name=None):
    return _array_ops.zeros_like(input, dtype, name)


def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    return _array_ops.pad(tensor, paddings, mode, name, constant_values)


def shape(input, out_type=_int32, name=None):
    return _array_ops.shape(input, name, out_type)


def size(input, out_type=_int32, name=None):
    return _array_ops.size(input, name, out_type)


def squeeze(input, axis=None, name=None):
    return _array_ops.squeeze(input, axis, name)


def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    return _array_ops.gather(params, indices, validate_indices, name, 0 if axis is None else axis, batch_dims)


def argmax(input, axis=None, output_type=_int64, name=None):
    return _math_ops.argmax(input, 0 if axis is None else axis, name, output_type=output_type)


def argmin(input, axis=None, output_type=_int64, name=None):
    return _math_ops.argmin(input, 0 if axis is None else axis, name, output_type=output_type)


def _reduction(reduce):
    def reduction(input_tensor, axis=None, keepdims=False, name=None):
        return reduce(input_tensor, axis, keepdims, name)

    reduction.__name__ = reduction.__qualname__ = reduce.__name__
    reduction.__doc__ = reduce.__doc__
    return reduction


reduce_all, reduce_any, reduce_logsumexp, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum = map(_reduction, (
    _math_ops.reduce_all, _math_ops.reduce_any, _math_ops.reduce_logsumexp, _math_ops.reduce_max, _math_ops.reduce_mean,
    _math_ops.reduce_min, _math_ops.reduce_prod, _math_ops.reduce_sum))


def random_poisson(shape, lam, dtype=_float32, seed=None, name=None):
    return _random_ops.random_poisson(lam, shape, dtype, seed, name)


__getattr__, __dir__ = _names.namespace(__name__)
