"""tf.contrib.optimizer_v2: the optimizers of tf.train, and RMSProp that begins with ``epsilon`` instead of adding it."""

from weir import names as _names
from weir.core.graph import convert_to_tensor as _convert_to_tensor
from weir.core.op_functions import raw_ops as _raw_ops
from weir.ops import array_ops as _array_ops, math_ops as _math_ops
from weir.train.optimizer import Optimizer as _Optimizer


class RMSPropOptimizer(_Optimizer):
    """Gradients by the root of their mean square, which begins as ``epsilon``."""

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 name="RMSProp"):
        super().__init__(use_locking, name)
        self._options, self._centered = (learning_rate, decay, momentum, epsilon), centered

    def _create_slots(self, var_list):
        for variable in var_list:
            first = self._call_if_callable(self._options[-1]) * _array_ops.ones_like(variable)
            self._get_or_make_slot(variable, first, "rms", self._name)
            for slot in ("mg", "momentum") if self._centered else ("momentum",):
                self._zeros_slot(variable, slot, self._name)

    def _prepare(self):
        self._numbers = [_convert_to_tensor(self._call_if_callable(option)) for option in self._options[:3]]

    def _update(self, kind, variable, grad, *indices):
        operation = getattr(_raw_ops, kind.format("centered_rms_prop" if self._centered else "rms_prop"))
        slots = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        places = [variable, *(self.get_slot(variable, slot) for slot in slots)]
        if kind.startswith("resource"):
            places = [place.handle for place in places]
        numbers = [_math_ops.cast(number, grad.dtype) for number in (*self._numbers, 0)]
        return operation(*places, *numbers, grad, *indices, use_locking=self._use_locking)

    def _apply_dense(self, grad, var):
        return self._update("apply_{}", var, grad)

    def _resource_apply_dense(self, grad, var):
        return self._update("resource_apply_{}", var, grad)

    def _apply_sparse(self, grad, var):
        return self._update("sparse_apply_{}", var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._update("resource_sparse_apply_{}", var, grad, indices)


__getattr__, __dir__ = _names.namespace(__name__)
