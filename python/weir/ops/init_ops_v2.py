"""Initial values as TensorFlow 2 calls them: the type is chosen by the call, ``initializer(shape, dtype)``."""

import numpy as np

from weir.core import dtypes
from weir.ops import init_ops
from weir.ops.init_ops import _fans as _compute_fans  # noqa: F401: asked for here


class Initializer:
    """``initializer(shape, dtype)`` gives a tensor."""

    _kinds = "floating point"  # what types it takes

    def __init__(self, made, **config):
        self._made, self._config = made, config

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._config:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._config[name]

    def __call__(self, shape, dtype=dtypes.float32):
        dtype = dtypes.as_dtype(dtype)
        if self._kinds == "floating point" and not dtype.is_floating:
            raise ValueError(f"Expected floating point type, got {dtype!r}.")
        if self._kinds == "numeric or boolean" and dtype == dtypes.string or self._kinds == "floating point or integer" \
                and not (dtype.is_floating or dtype.is_integer):
            raise ValueError(f"Expected {self._kinds} dtype, got {dtype!r}.")
        return self._made(shape, dtype)

    def get_config(self):
        return dict(self._config)

    @classmethod
    def from_config(cls, config):
        return cls(**{name: value for name, value in config.items() if name != "dtype"})


class Zeros(Initializer):
    _kinds = "numeric or boolean"

    def __init__(self):
        super().__init__(init_ops.Zeros._make)


class Ones(Initializer):
    _kinds = "numeric or boolean"

    def __init__(self):
        super().__init__(init_ops.Ones._make)


class Constant(Initializer):
    """A number, or as many as the shape has."""

    _kinds = "any"

    def __init__(self, value=0):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of values, "
                            "or numpy.ndarray).")
        super().__init__(self._constant, value=value)

    def __call__(self, shape, dtype=None):
        return self._constant(shape, dtype)

    def _constant(self, shape, dtype):
        value = np.asarray(self.value)
        if value.ndim and value.size != np.prod([int(size) for size in shape], dtype=int):
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {value.shape}.")
        if dtype is not None:
            dtype = dtypes.as_dtype(dtype)
        return init_ops.array_ops.constant(self.value, dtype, shape)


class RandomUniform(Initializer):
    _kinds = "floating point or integer"

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        super().__init__(init_ops.RandomUniform(minval, maxval, seed), minval=minval, maxval=maxval, seed=seed)


class RandomNormal(Initializer):
    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(init_ops.RandomNormal(mean, stddev, seed), mean=mean, stddev=stddev, seed=seed)


class TruncatedNormal(Initializer):
    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(init_ops.TruncatedNormal(mean, stddev, seed), mean=mean, stddev=stddev, seed=seed)


class VarianceScaling(Initializer):
    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None):
        super().__init__(init_ops.VarianceScaling(scale, mode, distribution, seed), scale=scale, mode=mode,
                         distribution=distribution, seed=seed)


class Orthogonal(Initializer):
    def __init__(self, gain=1.0, seed=None):
        super().__init__(init_ops.Orthogonal(gain, seed), gain=gain, seed=seed)


class Identity(Initializer):
    def __init__(self, gain=1.0):
        super().__init__(init_ops.Identity(gain), gain=gain)


class GlorotUniform(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(1.0, "fan_avg", "uniform", seed)

    def get_config(self):
        return {"seed": self.seed}


class GlorotNormal(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)

    def get_config(self):
        return {"seed": self.seed}


def lecun_normal(seed=None):
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed=None):
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def he_normal(seed=None):
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed=None):
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


zeros_initializer, ones_initializer, constant_initializer = Zeros, Ones, Constant
