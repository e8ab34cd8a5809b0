"""What distributions have of the C++ ones (weir/distributions.h): samples, densities, moments, divergences. The classes here
keep parameters, checks and what programs override."""

import contextlib

from weir import _weir
from weir.core import stack

_OF_VALUE = ("log_prob", "prob", "log_cdf", "cdf", "survival_function", "log_survival_function", "quantile")


def _make(kind, parameters, name, dtype=None, allow_nan_stats=True):
    """A distribution of tensors; None stands for the one of logits and probs, of rate and log_rate, that follows."""
    return _weir.distribution(stack.get_default_graph(), kind, parameters, dtype, allow_nan_stats, name)


def _body(name):
    if name == "sample_n":
        def body(self, n, seed=None):
            return _weir.distribution_sample_n(stack.get_default_graph(), self._native, n, seed)
    elif name in _OF_VALUE:
        def body(self, x):
            if name == "log_prob" and hasattr(self, "_valid_sample"):
                x = self._valid_sample(x)
            return _weir.distribution_of_value(stack.get_default_graph(), self._native, name, x)
    else:
        def body(self):
            return _weir.distribution_moment(stack.get_default_graph(), self._native, name)
    body.__name__ = "_" + name
    return body


def _bodies(*names):
    """Gives a class these functions of its C++ distribution, ``_native``. A value whose density is wanted goes through the
    class's ``_valid_sample`` first, if it has that."""

    def complete(cls):
        for name in names:
            setattr(cls, "_" + name, _body(name))
        return cls

    return complete


def _divergence(a, b, name=None):
    """KL(a || b) of two classes that the C++ side knows."""
    with contextlib.ExitStack() as scopes:
        if name:
            scopes.enter_context(stack.get_default_graph().name_scope(name))
        return _weir.distribution_kl(stack.get_default_graph(), a._native, b._native)
