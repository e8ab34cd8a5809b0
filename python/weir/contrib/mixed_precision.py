"""tf.contrib.mixed_precision: losses times a scale that a manager keeps, so that gradients of half precision do not
vanish."""

from weir.core import dtypes
from weir.core.graph import IndexedSlices, convert_to_tensor
from weir.core.variables import Variable
from weir.ops import math_ops
from weir.ops.control_flow_ops import cond, group, no_op
from weir.train.wrapped_optimizer import WrappedOptimizer


class LossScaleManager:
    """Keeps the scale of a loss."""

    def get_loss_scale(self):
        """The scale as it is, a scalar."""
        raise NotImplementedError

    def update_loss_scale(self, finite_grads):
        """An operation that changes the scale after a step whose gradients were all finite, or not."""
        raise NotImplementedError


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays."""

    def __init__(self, loss_scale):
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = convert_to_tensor(loss_scale, dtype=dtypes.float32)

    def get_loss_scale(self):
        return self._loss_scale

    def update_loss_scale(self, finite_grads):
        return no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after so many finite steps on end, and falls after so many others in all since it changed."""

    def __init__(self, init_loss_scale, incr_every_n_steps, decr_every_n_nan_or_inf=2, incr_ratio=2, decr_ratio=0.8):
        self._incr_every_n_steps, self._decr_every_n_nan_or_inf = incr_every_n_steps, decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._loss_scale = Variable(init_loss_scale, dtype=dtypes.float32, name="loss_scale", trainable=False)
        self._num_good_steps = Variable(0, name="good_steps", trainable=False)
        self._num_bad_steps = Variable(0, name="bad_steps", trainable=False)

    def get_loss_scale(self):
        return self._loss_scale

    def update_loss_scale(self, finite_grads):
        scale, good, bad = self._loss_scale, self._num_good_steps, self._num_bad_steps

        def change(value):
            return group(scale.assign(value), good.assign(0), bad.assign(0))

        def grow():
            larger = scale * self._incr_ratio
            return change(cond(math_ops.is_finite(larger), lambda: larger, lambda: scale + 0))

        def after_finite():
            return cond(good + 1 >= self._incr_every_n_steps, grow, lambda: good.assign_add(1).op)

        def after_others():
            return cond(bad + 1 >= self._decr_every_n_nan_or_inf,
                        lambda: change(math_ops.maximum(1.0, scale * self._decr_ratio)),
                        lambda: group(bad.assign_add(1), good.assign(0)))

        return cond(finite_grads, after_finite, after_others)


class LossScaleOptimizer(WrappedOptimizer):
    """An optimizer for a scaled loss: gradients come out as if there were no scale, and those that are not all finite
    change the scale alone."""

    def __init__(self, opt, loss_scale_manager):
        super().__init__(False, "LossScaleOptimizer")
        self._opt, self._loss_scale_manager = opt, loss_scale_manager

    def compute_gradients(self, loss, *args, **kwargs):
        scale = convert_to_tensor(self._loss_scale_manager.get_loss_scale())
        loss = loss() if callable(loss) else loss
        pairs = self._opt.compute_gradients(loss * math_ops.cast(scale, loss.dtype.base_dtype), *args, **kwargs)
        return [(None if grad is None else math_ops.scalar_mul(math_ops.cast(1 / scale, grad.dtype.base_dtype), grad),
                 variable) for grad, variable in pairs]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        finite = math_ops.reduce_all([
            math_ops.reduce_all(math_ops.is_finite(grad.values if isinstance(grad, IndexedSlices) else grad))
            for grad, _ in pairs if grad is not None])
        apply = cond(finite, lambda: self._opt.apply_gradients(pairs, global_step, name), no_op)
        return group(apply, self._loss_scale_manager.update_loss_scale(finite))
