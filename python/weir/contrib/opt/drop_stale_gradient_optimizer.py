"""Drops gradients that were computed too many steps ago."""

from weir import summary
from weir.core.graph import IndexedSlices, colocate_with, control_dependencies
from weir.core.variable_scope import get_variable
from weir.ops.array_ops import identity, reshape
from weir.ops.control_flow_ops import cond
from weir.ops.init_ops import zeros_initializer
from weir.ops.math_ops import cast, less_equal
from weir.train.steps import get_global_step
from weir.train.wrapped_optimizer import WrappedOptimizer


class DropStaleGradientOptimizer(WrappedOptimizer):
    """A worker notes the global step before it computes; when others have done more than ``staleness`` steps by the time
    that it is ready, its gradients count for nothing."""

    def __init__(self, opt, staleness, use_locking=False, name="DropStaleGradient"):
        super().__init__(use_locking, name)
        self._opt, self._staleness = opt, staleness

    def compute_gradients(self, loss, *args, **kwargs):
        with colocate_with(loss):
            self._local_step = get_global_step() + 0
        with control_dependencies([self._local_step]):
            return self._opt.compute_gradients(identity(loss), *args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        with colocate_with(global_step):
            stale = get_variable("stale_counter", [], initializer=zeros_initializer(), trainable=False)
        gradients = [gradient.values if isinstance(gradient, IndexedSlices) else gradient
                     for gradient, _ in pairs if gradient is not None]
        with control_dependencies(gradients), colocate_with(global_step):
            behind = reshape(global_step.read_value() - self._local_step, ())

        def accept():
            with control_dependencies([self._opt.apply_gradients(pairs, global_step=global_step, name=name)]):
                return identity(0.0)

        counted = stale.assign_add(cond(less_equal(behind, self._staleness), accept, lambda: identity(1.0)))
        summary.scalar("Gradient staleness percentage", stale / (cast(global_step + 1, "float32")))
        return counted
