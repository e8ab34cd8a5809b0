"""Optimizers that share state: Adam that counts with the program's global step, Adagrad whose sums some losses leave alone."""

import contextlib

from weir.core import dtypes
from weir.core.graph import control_dependencies, convert_to_tensor
from weir.core.op_functions import raw_ops
from weir.ops import array_ops, math_ops, state_ops
from weir.ops.control_flow_ops import group
from weir.train.optimizer import Optimizer


class AdamGSOptimizer(Optimizer):
    """Adam whose corrections of the first steps follow ``global_step``, not a count of its own."""

    def __init__(self, global_step=0, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False,
                 name="Adam"):
        super().__init__(use_locking, name)
        self._global_step, self._options = global_step, (learning_rate, beta1, beta2, epsilon)

    def _create_slots(self, var_list):
        for variable in var_list:
            for slot in ("m", "v"):
                self._zeros_slot(variable, slot, self._name)

    def _prepare(self):
        names = ("learning_rate", "beta1", "beta2", "epsilon")
        self._rate, self._beta1, self._beta2, self._epsilon = (
            convert_to_tensor(self._call_if_callable(option), name=name) for option, name in zip(self._options, names))
        # Each worker copies the step, which parameter servers keep, once.
        self._step = math_ops.cast(array_ops.identity(self._global_step) + 1, dtypes.float32)

    def _get_beta_accumulators(self):
        return math_ops.pow(self._beta1, self._step), math_ops.pow(self._beta2, self._step)

    def _numbers(self, dtype):
        return [math_ops.cast(number, dtype) for number in (
            *self._get_beta_accumulators(), self._rate, self._beta1, self._beta2, self._epsilon)]

    def _apply_dense(self, grad, var):
        return raw_ops.apply_adam(var, self.get_slot(var, "m"), self.get_slot(var, "v"), *self._numbers(grad.dtype), grad,
                                  use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad, var):
        return raw_ops.resource_apply_adam(var.handle, self.get_slot(var, "m").handle, self.get_slot(var, "v").handle,
                                           *self._numbers(grad.dtype), grad, use_locking=self._use_locking)

    def _moments(self, grad, var, indices):
        """Both moments after the gradient of some rows; those of all rows decay."""
        _, _, _, beta1, beta2, _ = self._numbers(grad.dtype)
        for slot, beta, value in (("m", beta1, grad), ("v", beta2, grad * grad)):
            moment = self.get_slot(var, slot)
            with control_dependencies([state_ops.assign(moment, moment * beta, use_locking=self._use_locking)]):
                added = state_ops.scatter_add(moment, indices, value * (1 - beta), use_locking=self._use_locking)
            with control_dependencies([added]):
                yield array_ops.identity(moment)

    def _apply_rows(self, grad, var, indices):
        power1, power2, rate, _, _, epsilon = self._numbers(grad.dtype)
        m, v = self._moments(grad, var, indices)
        rate = rate * math_ops.sqrt(1 - power2) / (1 - power1)
        return group(state_ops.assign_sub(var, rate * m / (math_ops.sqrt(v) + epsilon), use_locking=self._use_locking))

    def _apply_sparse(self, grad, var):
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_rows(grad, var, indices)


class LazyAdamGSOptimizer(AdamGSOptimizer):
    """The same, that leaves rows alone which have no gradient."""

    def _apply_rows(self, grad, var, indices):
        power1, power2, rate, beta1, beta2, epsilon = self._numbers(grad.dtype)
        rate = rate * math_ops.sqrt(1 - power2) / (1 - power1)
        updates, moments = [], []
        for slot, beta, value in (("m", beta1, grad), ("v", beta2, grad * grad)):
            moment = self.get_slot(var, slot)
            moments.append(beta * array_ops.gather(moment, indices) + (1 - beta) * value)
            updates.append(state_ops.scatter_update(moment, indices, moments[-1], use_locking=self._use_locking))
        m, v = moments
        step = rate * m / (math_ops.sqrt(v) + epsilon)
        return group(*updates, state_ops.scatter_sub(var, indices, step, use_locking=self._use_locking))


class RegAdagradOptimizer(Optimizer):
    """Adagrad; inside ``avoid_updating_slots()`` updates use the sums of squares and do not add to them, as those of
    regularization losses should not."""

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="RegAdagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial, self._should_update_slots = learning_rate, initial_accumulator_value, True

    @contextlib.contextmanager
    def avoid_updating_slots(self):
        before, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _create_slots(self, var_list):
        for variable in var_list:
            shape = variable.get_shape()
            value = array_ops.fill(shape if shape.is_fully_defined() else array_ops.shape(variable),
                                   math_ops.cast(self._initial, variable.dtype.base_dtype))
            self._get_or_make_slot(variable, value, "accumulator", self._name)

    def _prepare(self):
        self._rate = convert_to_tensor(self._call_if_callable(self._learning_rate), name="learning_rate")

    def _update(self, operation, var, grad, *indices):
        sums = self.get_slot(var, "accumulator")
        places = (var.handle, sums.handle) if operation.__name__.startswith("resource") else (var, sums)
        return operation(*places, math_ops.cast(self._rate, grad.dtype), grad, *indices, use_locking=self._use_locking,
                         update_slots=self._should_update_slots)

    def _apply_dense(self, grad, var):
        return self._update(raw_ops.apply_adagrad, var, grad)

    def _resource_apply_dense(self, grad, var):
        return self._update(raw_ops.resource_apply_adagrad, var, grad)

    def _apply_sparse(self, grad, var):
        return self._update(raw_ops.sparse_apply_adagrad, var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._update(raw_ops.resource_sparse_apply_adagrad, var, grad, indices)
