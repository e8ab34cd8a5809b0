"""Names of parameters, functions and classes of distributions before TensorFlow 1.0, beside those of today.

A class says in ``_old_names`` what its parameters were called: {"mu": "loc"}. It then takes and has both names."""

import functools

from weir.core.tensor_shape import TensorShape


def _provide(cls):
    """Gives a class, of whose definition Python has come to the end, the old names of its parameters."""
    names = cls._old_names
    if names and "__init__" in cls.__dict__:
        cls.__init__ = _with_old_names(cls.__init__, names)
    for old, new in cls.__dict__.get("_old_names", {}).items():
        if not hasattr(cls, old):
            setattr(cls, old, property(lambda self, new=new: getattr(self, new)))


def _with_old_names(original, names):
    @functools.wraps(original)
    def __init__(self, *args, **parameters):
        for old, new in names.items():
            if old not in parameters:
                continue
            if new in parameters:
                raise TypeError(f"{type(self).__name__}: {old} and {new} are the same parameter")
            parameters[new] = parameters.pop(old)
        original(self, *args, **parameters)

    return __init__


class _ShapeAndTensor(TensorShape):
    """A shape as far as it is known, which is a property today; called, as it was before, it is a tensor."""

    def __init__(self, shape, tensor):
        super().__init__(shape)
        self._tensor = tensor

    def __call__(self, name=None):
        return self._tensor() if name is None else self._tensor(name)
