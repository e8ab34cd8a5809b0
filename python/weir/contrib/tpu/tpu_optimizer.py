"""CrossShardOptimizer: sums gradients over the cores of a TPU; one core has nothing to sum."""

from weir.losses import Reduction
from weir.train.wrapped_optimizer import WrappedOptimizer


class CrossShardOptimizer(WrappedOptimizer):
    """An optimizer around another one."""

    def __init__(self, opt, reduction="weighted_mean", name="CrossShardOptimizer", group_assignment=None):
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(False, name)
        self._opt, self._reduction, self._group_assignment = opt, reduction, group_assignment

    def compute_gradients(self, loss, var_list=None, **kwargs):
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        return self._opt.apply_gradients(grads_and_vars, global_step, name)


def cross_replica_sum(x, group_assignment=None, name=None):
    """The sum over all replicas, of which there is one."""
    return x
