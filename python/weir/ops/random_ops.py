"""Random values: TensorFlow's streams, so that a seed gives TensorFlow's numbers."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import _truncated, convert_to_tensor, get_seed, name_scope
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph as _graph
from weir.ops import array_ops, math_ops


def random_uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    dtype = dtypes.as_dtype(dtype)
    if maxval is None and dtype.is_integer:
        raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
    return _weir.random_uniform(_graph(), shape, minval, maxval, dtype, _truncated(seed), name)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    return _weir.random_normal(_graph(), shape, mean, stddev, dtypes.as_dtype(dtype), _truncated(seed), name)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    return _weir.truncated_normal(_graph(), shape, mean, stddev, dtypes.as_dtype(dtype), _truncated(seed), name)


def parameterized_truncated_normal(shape, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, dtype=dtypes.float32,
                                   seed=None, name=None):
    """Normal values between bounds; each row of the first dimension may have parameters of its own."""
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]) as scope:
        parameters = [convert_to_tensor(value, dtype=dtype) for value in (means, stddevs, minvals, maxvals)]
        seed1, seed2 = get_seed(seed)
        shape = convert_to_tensor(shape, dtype=dtypes.int32, name="shape")
        return apply("ParameterizedTruncatedNormal", (shape, *parameters), {"seed": seed1 or 0, "seed2": seed2 or 0}, scope)


def random_shuffle(value, seed=None, name=None):
    seed1, seed2 = get_seed(seed)
    return apply("RandomShuffle", (value,), {"seed": seed1 or 0, "seed2": seed2 or 0}, name)


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    return _weir.multinomial(_graph(), logits, num_samples, _truncated(seed), output_dtype or dtypes.int64, name)


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    return multinomial(logits, num_samples, seed, name, dtype)


def random_crop(value, size, seed=None, name=None):
    """A piece of ``size`` from a random place of ``value``."""
    return _weir.image_random_crop(_graph(), value, size, _truncated(seed), name)


def random_gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Samples of gamma distributions; shape + the shape of alpha (and of beta, the inverse scale)."""
    dtype = dtypes.as_dtype(dtype)
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = convert_to_tensor(1 if beta is None else beta, name="beta", dtype=dtype)
        alpha = alpha + array_ops.zeros_like(beta)
        seed1, seed2 = get_seed(seed)
        samples = apply("RandomGamma", (shape, alpha), {"seed": seed1 or 0, "seed2": seed2 or 0}, None)
        tiny = dtypes._numpy().finfo(dtype.as_numpy_dtype).tiny
        return math_ops.maximum(tiny, samples / beta)


def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    """Samples of Poisson distributions; shape + the shape of lam, their rates."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        seed1, seed2 = get_seed(seed)
        return apply("RandomPoissonV2", (shape, lam),
                     {"dtype": dtypes.as_dtype(dtype), "seed": seed1 or 0, "seed2": seed2 or 0}, None)
