"""Random numbers that their seeds alone decide, and generators whose state is a variable."""

import numpy as np

from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.variables import Variable
from weir.ops import array_ops, math_ops


def _sizes(shape):
    return convert_to_tensor(shape, dtype=None if hasattr(shape, "dtype") else dtypes.int32, name="shape")


def stateless_random_uniform(shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None):
    dtype = dtypes.as_dtype(dtype)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype.name}")
        maxval = 1
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        shape = _sizes(shape)
        minval = convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = convert_to_tensor(maxval, dtype=dtype, name="max")
        if dtype.is_integer:
            return apply("StatelessRandomUniformInt", (shape, seed, minval, maxval), {}, scope)
        drawn = apply("StatelessRandomUniform", (shape, seed), {"dtype": dtype}, None)
        return math_ops.add(drawn * (maxval - minval), minval, name=scope)


def _scaled(op, usual):
    def function(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        with name_scope(name, usual, [shape, seed, mean, stddev]) as scope:
            mean = convert_to_tensor(mean, dtype=dtype, name="mean")
            stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
            drawn = apply(op, (_sizes(shape), seed), {"dtype": dtypes.as_dtype(dtype)}, None)
            return math_ops.add(drawn * stddev, mean, name=scope)

    function.__name__ = usual
    return function


stateless_random_normal = _scaled("StatelessRandomNormal", "stateless_random_normal")
stateless_truncated_normal = _scaled("StatelessTruncatedNormal", "stateless_truncated_normal")


def stateless_multinomial(logits, num_samples, seed, output_dtype=dtypes.int64, name=None):
    return apply("StatelessMultinomial", (logits, num_samples, seed), {"output_dtype": dtypes.as_dtype(output_dtype)},
                 name or "stateless_multinomial")


def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    return stateless_multinomial(logits, num_samples, seed, dtype, name or "stateless_categorical")


_PHILOX = 1


def _key_of(seed):
    """A seed as the state of a generator: the counter, two numbers, and the key."""
    if isinstance(seed, int):
        seed = [seed >> (64 * i) & (1 << 64) - 1 for i in range(3)]
    numbers = [(int(n) + (1 << 63)) % (1 << 64) - (1 << 63) for n in np.ravel(seed)][:3]
    return [0] * (3 - len(numbers)) + numbers


def create_rng_state(seed, algorithm=_PHILOX):
    if algorithm not in (_PHILOX, "philox"):
        raise ValueError(f"Unsupported algorithm id: {algorithm}")
    return _key_of(seed)


class Generator:
    """Random numbers from a state that is a variable and moves on with every draw."""

    def __init__(self, copy_from=None, state=None, alg=_PHILOX):
        if copy_from is not None:
            self._state, self._alg = copy_from.state, copy_from.algorithm
            return
        if isinstance(state, Variable):
            self._state = state
        else:
            values = np.asarray(state, dtype=np.int64)
            self._state = Variable(values, dtype=dtypes.int64, trainable=False, use_resource=True, name="StateVar")
        self._alg = alg

    @classmethod
    def from_state(cls, state, alg=_PHILOX):
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed, alg=_PHILOX):
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=_PHILOX):
        return cls(state=np.random.SeedSequence().generate_state(3, np.uint64).view(np.int64), alg=alg)

    @property
    def state(self):
        return self._state

    @property
    def algorithm(self):
        return self._alg

    @property
    def state_var(self):
        return self._state

    def _draw(self, op, shape, attrs, *more):
        shape = convert_to_tensor(shape, dtype=None if hasattr(shape, "dtype") else dtypes.int32)
        return apply(op, (self._state.handle, np.int64(self._alg), shape) + more, attrs, None)

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        with name_scope(name, "stateful_normal", [shape, mean, stddev]) as scope:
            drawn = self._draw("StatefulStandardNormalV2", shape, {"dtype": dtypes.as_dtype(dtype)})
            return math_ops.add(drawn * stddev, mean, name=scope)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
            drawn = self._draw("StatefulTruncatedNormal", shape, {"dtype": dtypes.as_dtype(dtype)})
            return math_ops.add(drawn * stddev, mean, name=scope)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        dtype = dtypes.as_dtype(dtype)
        if maxval is None:
            if dtype.is_integer:
                raise ValueError(f"Must specify maxval for integer dtype {dtype.name}")
            maxval = 1
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            minval = convert_to_tensor(minval, dtype=dtype, name="min")
            maxval = convert_to_tensor(maxval, dtype=dtype, name="max")
            if dtype.is_integer:
                return self._draw("StatefulUniformInt", shape, {}, minval, maxval)
            drawn = self._draw("StatefulUniform", shape, {"dtype": dtype})
            return math_ops.add(drawn * (maxval - minval), minval, name=scope)

    def uniform_full_int(self, shape, dtype=dtypes.as_dtype("uint64"), name=None):
        return self._draw("StatefulUniformFullInt", shape, {"dtype": dtypes.as_dtype(dtype)})

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        counts = convert_to_tensor(counts, name="counts")
        probs = math_ops.cast(convert_to_tensor(probs, name="probs"), counts.dtype.base_dtype)
        shape = convert_to_tensor(shape, dtype=dtypes.int32, name="shape")
        return apply("StatefulRandomBinomial", (self._state.handle, np.int64(self._alg), shape, counts, probs),
                     {"dtype": dtypes.as_dtype(dtype)}, name)

    def skip(self, delta):
        return apply("RngSkip", (self._state.handle, np.int64(self._alg), np.int64(delta)), {}, None)

    def reset(self, state):
        return self._state.assign(array_ops.identity(np.asarray(state, np.int64)))
