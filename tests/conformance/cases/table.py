"""The table of operations: how inputs are made, and the rows that say which ones.

A row is a function of a Values (numbers of one element type, from a seeded generator) that gives cases. A case is
C(*inputs, **attributes); an input is an array, a list of arrays, or one of

  K(array)  indices, axes, shapes: a constant in the static form of a case, fed in the dynamic form; not differentiated
  V(array)  a variable with this value; what it holds afterwards is compared too
  Q(array, type)  numbers of a quantised type, fed as the integers that they are made of

Every row is tried with every type; those that Weir's table of the operation does not accept are left out.
"""
import numpy as np

ALL_TYPES = ('float32', 'float64', 'float16', 'bfloat16', 'int32', 'int64', 'uint8', 'int8', 'int16', 'uint16',
             'complex64', 'complex128', 'bool', 'string')
FLOATS = ('float32', 'float64', 'float16', 'bfloat16')
REAL = ('float32', 'float64')
COMPLEX = ('complex64', 'complex128')
MOVED = ('float32', 'int32', 'bool', 'string', 'complex64')  # one of each size and kind


class K(object):

    def __init__(self, value, dtype=np.int32):
        self.value = np.asarray(value, dtype)


class V(object):

    def __init__(self, value):
        self.value = value


class Q(object):

    def __init__(self, value, dtype):
        self.dtype, self.value = dtype, np.asarray(value, dtype[1:])


class C(object):

    def __init__(self, *inputs, **attrs):
        self.inputs, self.attrs = inputs, attrs
        self.gradient = attrs.pop('gradient', True)
        self.compared = attrs.pop('compared', None)  # how many outputs are; the others are not defined. None: all
        self.what = attrs.pop('what', '')


class Values(object):
    """Makes arrays of one element type."""

    def __init__(self, dtype, seed):
        self.dtype, self.random = dtype, np.random.RandomState(seed)
        self.is_float, self.is_complex = dtype in FLOATS, dtype.startswith('complex')
        self.is_int = 'int' in dtype

    def __call__(self, *shape, **limits):
        low, high = limits.get('low', -2), limits.get('high', 2)
        return self.of(self.random.uniform(low, high, shape), low, high)

    def of(self, values, low=-9, high=9):
        """`values` in this element type."""
        values = np.asarray(values)
        if self.dtype == 'string':
            words = [('w%d' % (abs(int(v * 100)) % 7)).encode() for v in values.reshape(-1)]
            result = np.empty(values.size, object)
            result[:] = words
            return result.reshape(values.shape)
        if self.dtype == 'bool':
            return values > (low + high) / 2.0
        if self.dtype == 'bfloat16':
            bits = values.astype(np.float32).view(np.uint32) if values.ndim else np.asarray(
                values, np.float32).reshape(1).view(np.uint32)
            return ((bits + 0x8000) & np.uint32(0xffff0000)).view(np.float32).reshape(values.shape)
        if self.is_complex:
            other = np.asarray(self.random.uniform(low, high, values.shape))
            return (values + 1j * other).astype(self.dtype)
        if self.is_int:
            values = np.round(values * 3) if high - low <= 4.5 else np.round(values)
            return (abs(values) if self.dtype.startswith('u') else values).astype(self.dtype)
        return values.astype(self.dtype)

    def nonzero(self, *shape):
        values = self.random.uniform(0.5, 2, shape)
        return self.of(np.maximum(values, 1) if self.is_int else values * self.random.choice([-1, 1], shape), 0.5, 9)

    def distinct(self, *shape):
        """No two alike, so that maxima are unique."""
        count = int(np.prod(shape))
        return self.of(self.random.permutation(count).reshape(shape) * (0.5 if count < 64 else 0.125) - 2, -9, 99)

    def well_conditioned(self, *shape):
        return (self(*shape, low=-0.5, high=0.5) + 3 * np.eye(shape[-1])).astype(self.dtype)

    def positive_definite(self, *shape):
        a = self(*shape, low=-0.5, high=0.5).astype('complex128' if self.is_complex else 'float64')
        return (np.matmul(a, np.conj(np.swapaxes(a, -1, -2))) + 2 * np.eye(shape[-1])).astype(self.dtype)

    def indices(self, high, *shape):
        return K(self.random.randint(0, high, shape))


SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 1e30, -1e30, 88.9, -104.0
]
ROWS = {}


def row(names, make, types=ALL_TYPES):
    for name in names.split():
        assert name not in ROWS, name
        ROWS[name] = (make, types)
