"""What model averaging and elastic averaging share: every worker trains variables of its own, and has them near common ones."""

from weir.core.graph import GraphKeys, device
from weir.core.variable_scope import get_variable
from weir.ops.control_flow_ops import cond, no_op
from weir.ops.math_ops import equal, mod
from weir.train.wrapped_optimizer import WrappedOptimizer

_GLOBAL_VARIABLE_NAME = "global_center_variable"
_LOCAL_VARIABLE_NAME = "local_center_variable"


class _LocalVariables:
    """A custom getter: trainable variables become local ones that stand on the worker, beside a common one each."""

    def __init__(self, worker_device):
        self._worker_device = worker_device

    def _make_common(self, getter, name, local, args, kwargs):
        raise NotImplementedError

    def __call__(self, getter, name, trainable, collections, *args, **kwargs):
        if trainable:
            with device(self._worker_device):
                local = getter(name, *args, trainable=True, collections=[GraphKeys.LOCAL_VARIABLES], **kwargs)
            self._make_common(getter, name, local, args, kwargs)
            return local
        if GraphKeys.LOCAL_VARIABLES in (collections or ()):
            with device(self._worker_device):
                return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        return getter(name, *args, trainable=trainable, collections=collections, **kwargs)


class _LocalStepsOptimizer(WrappedOptimizer):
    """Updates the worker's own variables in every step, and meets the others in every so many."""

    def __init__(self, opt, period, use_locking, name):
        super().__init__(use_locking, name)
        self._opt, self._period = opt, period
        self._local_step = get_variable("local_step", initializer=0, trainable=False,
                                        collections=[GraphKeys.LOCAL_VARIABLES])

    def _at_every_period(self, meet):
        """``meet()`` when as many local steps have been done; counts are read after the step that is under way."""
        return cond(equal(mod(self._local_step.read_value(), self._period), 0), meet, no_op)
