"""Initial values of variables: functions of a shape."""

import math

from weir.core import dtypes
from weir.ops import array_ops, linalg_ops, math_ops, random_ops


class Initializer:
    """``initializer(shape, dtype)`` gives a tensor."""

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        raise NotImplementedError

    def get_config(self):
        config = {k: v for k, v in self.__dict__.items() if k != "dtype"}
        return dict(config, dtype=self.dtype.name)

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def _floating(dtype):
    """The type, which must be a floating one."""
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype!r}.")
    return dtype


class _ZerosOrOnes(Initializer):
    """An initializer; in TensorFlow 0.x ``zeros_initializer(shape, dtype)`` gave the tensor itself."""

    def __new__(cls, shape=None, dtype=dtypes.float32, partition_info=None):
        if isinstance(shape, (list, tuple)) or hasattr(shape, "as_list"):
            return cls._make(shape, dtype)
        return object.__new__(cls)

    def __init__(self, dtype=dtypes.float32, **kwargs):
        super().__init__(dtype if dtype is not None else dtypes.float32)

    def __call__(self, shape, dtype=None, partition_info=None):
        return self._make(shape, self.dtype if dtype is None else dtype)


class Zeros(_ZerosOrOnes):
    @staticmethod
    def _make(shape, dtype):
        return array_ops.zeros(shape, dtype)


class Ones(_ZerosOrOnes):
    @staticmethod
    def _make(shape, dtype):
        return array_ops.ones(shape, dtype)


class Constant(Initializer):
    def __init__(self, value=0, dtype=dtypes.float32, verify_shape=False):
        super().__init__(dtype)
        self.value, self._verify_shape = value, verify_shape

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None):
        return array_ops.constant(self.value, self.dtype if dtype is None else dtype, shape,
                                  verify_shape=self._verify_shape if verify_shape is None else verify_shape)


class RandomUniform(Initializer):
    def __init__(self, minval=0, maxval=None, seed=None, dtype=dtypes.float32):
        super().__init__(dtype)
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        return random_ops.random_uniform(shape, self.minval, self.maxval, self.dtype if dtype is None else dtype, self.seed)


class RandomNormal(Initializer):
    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(_floating(dtype))
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        return random_ops.random_normal(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype, seed=self.seed)


class TruncatedNormal(RandomNormal):
    def __call__(self, shape, dtype=None, partition_info=None):
        return random_ops.truncated_normal(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype, seed=self.seed)


def _fans(shape):
    """Sizes going in and out of a layer with weights of this shape."""
    shape = shape.as_list() if hasattr(shape, "as_list") else shape
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    if len(shape) == 2:
        return shape[0], shape[1]
    field = 1
    for size in shape[:-2]:
        field *= size
    return shape[-2] * field, shape[-1] * field


class VarianceScaling(Initializer):
    """Draws so that the variance is ``scale / n``, n the sizes going in, out, or their mean."""

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, dtype=dtypes.float32):
        super().__init__(_floating(dtype))
        if scale <= 0:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument:", mode)
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        dtype = self.dtype if dtype is None else dtype
        fan_in, fan_out = _fans([int(size) for size in shape])
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        scale = self.scale / max(1.0, n)
        if self.distribution in ("normal", "truncated_normal"):
            # The deviation of a normal distribution cut off at two deviations is this much smaller.
            stddev = math.sqrt(scale) / 0.87962566103423978
            return random_ops.truncated_normal(shape, 0.0, stddev, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return random_ops.random_normal(shape, 0.0, math.sqrt(scale), dtype, seed=self.seed)
        limit = math.sqrt(3.0 * scale)
        return random_ops.random_uniform(shape, -limit, limit, dtype, seed=self.seed)


class GlorotUniform(VarianceScaling):
    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class GlorotNormal(VarianceScaling):
    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


def he_normal(seed=None):
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed=None):
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed=None):
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed=None):
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


class UniformUnitScaling(Initializer):
    def __init__(self, factor=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(_floating(dtype))
        self.factor, self.seed = factor, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        size = 1.0
        for dim in list(shape)[:-1]:
            size *= float(dim)
        limit = math.sqrt(3 / max(size, 1.0)) * self.factor
        return random_ops.random_uniform(shape, -limit, limit, self.dtype if dtype is None else dtype, seed=self.seed)


class Orthogonal(Initializer):
    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(_floating(dtype))
        self.gain, self.seed = gain, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        """Orthogonal rows or columns."""
        dtype = self.dtype if dtype is None else dtype
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(int(size) for size in shape[:-1]), int(shape[-1])
        q = _orthogonal_columns(max(rows, columns), min(rows, columns), dtype, self.seed)
        if rows < columns:
            q = array_ops.transpose(q)
        return self.gain * array_ops.reshape(q, [int(size) for size in shape])


def _orthogonal_columns(rows, columns, dtype, seed):
    """A matrix drawn uniformly from those with orthogonal columns of length 1."""
    draws = random_ops.random_normal([rows, columns], dtype=dtype, seed=seed)
    q, r = linalg_ops.qr(draws, full_matrices=False)
    return q * math_ops.sign(array_ops.diag_part(r))


class Identity(Initializer):
    def __init__(self, gain=1.0, dtype=dtypes.float32):
        super().__init__(_floating(dtype))
        self.gain = gain

    def __call__(self, shape, dtype=None, partition_info=None):
        if len(shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        whole, offset = [int(s) for s in shape], [0, 0]
        if partition_info is not None:  # a part of a matrix with ones on its diagonal
            whole, offset = [int(s) for s in partition_info.full_shape], [int(o) for o in partition_info.var_offset]
        matrix = dtypes._numpy().eye(*whole) * self.gain
        part = tuple(slice(first, first + int(size)) for first, size in zip(offset, shape))
        return array_ops.constant(matrix[part], self.dtype if dtype is None else dtype)


zeros_initializer, ones_initializer, constant_initializer = Zeros, Ones, Constant
random_uniform_initializer, random_normal_initializer = RandomUniform, RandomNormal
truncated_normal_initializer, variance_scaling_initializer = TruncatedNormal, VarianceScaling
uniform_unit_scaling_initializer, orthogonal_initializer = UniformUnitScaling, Orthogonal
identity_initializer = Identity
glorot_uniform_initializer, glorot_normal_initializer = GlorotUniform, GlorotNormal


def _assert_float_dtype(dtype):
    """The type, which must be a floating one."""
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype
