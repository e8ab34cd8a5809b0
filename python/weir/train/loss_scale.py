"""tf.train.experimental: losses times a scale, so that small gradients of half precision do not vanish."""

from weir import nest
from weir.core import dtypes
from weir.core.graph import IndexedSlices, convert_to_tensor
from weir.core.variables import Variable
from weir.ops import math_ops
from weir.ops.control_flow_ops import cond, group, no_op
from weir.train.optimizer import Optimizer


class LossScale:
    """What a loss is multiplied by, and its gradients are divided by; calling it gives the scale as it is."""

    def __init__(self):
        self._weights = {}

    def __call__(self):
        raise NotImplementedError

    def update(self, grads):
        """(an operation that changes the scale after gradients that were divided by it, whether to apply these)."""
        raise NotImplementedError

    def get_config(self):
        raise NotImplementedError

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def _add_weight(self, name, initial_value, dtype=None):
        if name in self._weights:
            raise RuntimeError(f"Duplicate variables detected. {name}")
        self._weights[name] = Variable(initial_value, name=name, dtype=dtype, trainable=False, use_resource=True)
        return self._weights[name]


class FixedLossScale(LossScale):
    """A scale that stays."""

    def __init__(self, loss_scale_value):
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self):
        return convert_to_tensor(self._loss_scale_value)

    def update(self, grads):
        return no_op(), True

    def get_config(self):
        return {"loss_scale_value": self._loss_scale_value}

    def __repr__(self):
        return f"FixedLossScale({self._loss_scale_value})"


class DynamicLossScale(LossScale):
    """A scale that grows after so many steps with finite gradients, and falls at once after others."""

    def __init__(self, initial_loss_scale=2 ** 15, increment_period=2000, multiplier=2.0):
        super().__init__()
        self._initial_loss_scale, self._increment_period = float(initial_loss_scale), int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = self._add_weight("current_loss_scale", self._initial_loss_scale, dtypes.float32)
        self._num_good_steps = self._add_weight("good_steps", 0, dtypes.int64)

    initial_loss_scale = property(lambda self: self._initial_loss_scale)
    increment_period = property(lambda self: self._increment_period)
    multiplier = property(lambda self: self._multiplier)

    def __call__(self):
        return convert_to_tensor(self._current_loss_scale)

    def update(self, grads):
        finite = [math_ops.reduce_all(math_ops.is_finite(grad.values if isinstance(grad, IndexedSlices) else grad))
                  for grad in nest.flatten(grads) if grad is not None]
        all_finite = math_ops.reduce_all(finite) if finite else convert_to_tensor(True)
        scale, steps = self._current_loss_scale, self._num_good_steps

        def grow():
            larger = scale * self._multiplier
            return group(cond(math_ops.is_finite(larger), lambda: scale.assign(larger).op, no_op), steps.assign(0))

        def after_finite():
            return cond(steps + 1 >= self._increment_period, grow, lambda: steps.assign_add(1).op)

        def after_others():
            return group(steps.assign(0), scale.assign(math_ops.maximum(scale / self._multiplier, 1)))

        return cond(all_finite, after_finite, after_others), all_finite

    def get_config(self):
        return {"initial_loss_scale": self._initial_loss_scale, "increment_period": self._increment_period,
                "multiplier": self._multiplier}

    def __repr__(self):
        return (f"DynamicLossScale(initial_loss_scale={self._initial_loss_scale}, "
                f"increment_period={self._increment_period}, multiplier={self._multiplier})")


def get(identifier):
    """The scale of a number, of "dynamic", or of a scale."""
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    if identifier is None or isinstance(identifier, LossScale):
        return identifier
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """An optimizer for a scaled loss: gradients come out as if there were no scale. With a dynamic scale a step whose
    gradients are not finite changes the scale alone."""

    def __init__(self, opt, loss_scale):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer, self._loss_scale = opt, get(loss_scale)

    def compute_gradients(self, loss, *args, **kwargs):
        scale = self._loss_scale()
        scaled = (lambda: loss() * scale) if callable(loss) else loss * math_ops.cast(scale, loss.dtype.base_dtype)
        pairs = self._optimizer.compute_gradients(scaled, *args, **kwargs)
        return [(None if grad is None else math_ops.scalar_mul(math_ops.cast(1 / scale, grad.dtype.base_dtype), grad),
                 variable) for grad, variable in pairs]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        if not isinstance(self._loss_scale, DynamicLossScale):
            return self._optimizer.apply_gradients(pairs, global_step, name)
        update, should_apply = self._loss_scale.update([grad for grad, _ in pairs])
        apply = cond(should_apply, lambda: self._optimizer.apply_gradients(pairs, global_step), no_op)
        return group(apply, update, name=name or self.get_name())

    def get_slot(self, *args, **kwargs):
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self):
        scale = self._loss_scale
        return list(self._optimizer.variables()) + (list(scale._weights.values()) if scale is not None else [])
