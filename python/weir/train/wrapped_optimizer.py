"""Optimizers that change what another one does with gradients, and keep their slots where that one has them."""

from weir.train.optimizer import Optimizer


class WrappedOptimizer(Optimizer):
    """Of ``self._opt``, which is set by the class that derives from this one."""

    def get_slot(self, *args, **kwargs):
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        return self._opt.variables()
