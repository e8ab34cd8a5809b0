"""Accumulators of gradients: several workers give, one takes the mean or the sum of enough of them."""

from weir.core import dtypes
from weir.core.graph import IndexedSlices, convert_to_tensor
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape, unknown_shape
from weir.ops import math_ops


def _step(value):
    return math_ops.cast(convert_to_tensor(value), dtypes.int64)


class ConditionalAccumulatorBase:
    """Gradients that were computed for an earlier step than the accumulator's are dropped."""

    _prefix = "Resource"

    def __init__(self, dtype, shape, accumulator_ref):
        self._dtype = dtype
        self._shape = unknown_shape() if shape is None else TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    accumulator_ref = property(lambda self: self._accumulator_ref)
    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)

    def num_accumulated(self, name=None):
        return apply(self._prefix + "AccumulatorNumAccumulated", (self._accumulator_ref,), {},
                     name or f"{self._name}_NumAccumulated")

    def set_global_step(self, new_global_step, name=None):
        return apply(self._prefix + "AccumulatorSetGlobalStep", (self._accumulator_ref, _step(new_global_step)), {}, name)


def _make(op, dtype, shape, shared_name, name, reduction_type):
    return apply(op, (), {"dtype": dtype, "shape": shape, "shared_name": shared_name or "",
                          "reduction_type": reduction_type}, name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Of dense gradients."""

    def __init__(self, dtype, shape=None, shared_name=None, name="conditional_accumulator", reduction_type="MEAN"):
        super().__init__(dtype, shape, _make("ResourceConditionalAccumulator", dtype, shape, shared_name, name,
                                             reduction_type))

    def apply_grad(self, grad, local_step=0, name=None):
        """Adds a gradient, unless ``local_step`` is an earlier step."""
        grad = convert_to_tensor(grad, self._dtype)
        grad.get_shape().assert_is_compatible_with(self._shape)
        return apply("ResourceAccumulatorApplyGradient", (self._accumulator_ref, _step(local_step), grad), {}, name)

    def take_grad(self, num_required, name=None):
        """The mean or sum of ``num_required`` gradients at least; waits for them. The step is counted up."""
        taken = apply("ResourceAccumulatorTakeGradient", (self._accumulator_ref, num_required), {"dtype": self._dtype},
                      name)
        taken.set_shape(self._shape)
        return taken


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Of gradients of some rows (IndexedSlices)."""

    _prefix = ""

    def __init__(self, dtype, shape=None, shared_name=None, name="sparse_conditional_accumulator",
                 reduction_type="MEAN"):
        super().__init__(dtype, shape, _make("SparseConditionalAccumulator", dtype, shape, shared_name, name,
                                             reduction_type))

    def apply_indexed_slices_grad(self, grad, local_step=0, name=None):
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices, grad_values, grad_shape=None, local_step=0, name=None):
        shape = math_ops.cast([] if grad_shape is None else grad_shape, dtypes.int64)
        return apply("SparseAccumulatorApplyGradient",
                     (self._accumulator_ref, _step(local_step), math_ops.cast(grad_indices, dtypes.int64), grad_values,
                      shape), {"has_known_shape": grad_shape is not None}, name)

    def take_grad(self, num_required, name=None):
        """(indices, values, shape)"""
        return apply("SparseAccumulatorTakeGradient", (self._accumulator_ref, num_required), {"dtype": self._dtype},
                     name)

    def take_indexed_slices_grad(self, num_required, name=None):
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(indices=indices, values=values, dense_shape=shape)
