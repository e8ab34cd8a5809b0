"""Which replica of a model is being built. Optimizers ask: the gradients of all replicas are applied together."""

import threading

_state = threading.local()


def _replicas():
    """The replicas that are being built, or None."""
    return getattr(_state, "replicas", None)


class _Replicas:
    """Collects the gradients of replicas; those of the last are averaged with the others' and applied."""

    def __init__(self, count, average):
        self.count, self.current, self._average = count, 0, average
        self._calls, self._collected = 0, {}

    def __enter__(self):
        self._before, _state.replicas = _replicas(), self
        return self

    def __exit__(self, *exc):
        _state.replicas = self._before

    def begin(self, number):
        self.current, self._calls = number, 0

    def gradients(self, grads_and_vars):
        """The gradients to apply now, or None when another replica's are awaited."""
        self._calls += 1
        collected = self._collected.setdefault(self._calls, [])
        collected.append(list(grads_and_vars))
        if len(collected) < self.count:
            return None
        return self._average(collected)
