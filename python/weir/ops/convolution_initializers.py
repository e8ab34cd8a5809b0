"""Kernels of convolutions that keep the norm of their input (Xiao et al., 2018)."""

import itertools

from weir.core import dtypes
from weir.ops import array_ops, math_ops, random_ops
from weir.ops.init_ops import Initializer, _floating, _orthogonal_columns


def _check_channels(shape):
    if shape[-2] > shape[-1]:
        raise ValueError("In_filters cannot be greater than out_filters.")


class ConvolutionDeltaOrthogonal(Initializer):
    """An orthogonal matrix in the middle of the kernel, zeros around it."""

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(_floating(dtype))
        self.gain, self.seed = gain, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        dtype = self.dtype if dtype is None else dtype
        if not 3 <= len(shape) <= 5:
            raise ValueError("The tensor to initialize must be at least three-dimensional and at most five-dimensional")
        _check_channels(shape)
        matrix = _orthogonal_columns(shape[-1], shape[-1], dtype, self.seed)[:shape[-2], :]
        matrix *= math_ops.cast(self.gain, dtype)
        return array_ops.scatter_nd([[(size - 1) // 2 for size in shape[:-2]]], array_ops.expand_dims(matrix, 0), shape)


class ConvolutionOrthogonal(Initializer):
    """A convolution of kernels of width 2, each made of projections, with an orthogonal matrix."""

    _NDIMS, _WORD = None, None  # of the kernel without the channels

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(_floating(dtype))
        self.gain, self.seed = gain, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        if self._NDIMS is None:
            raise NotImplementedError
        if len(shape) != self._NDIMS + 2:
            raise ValueError(f"The tensor to initialize must be {self._WORD}-dimensional")
        _check_channels(shape)
        if any(size != shape[0] for size in shape[:-2]):
            raise ValueError("Kernel sizes must be equal.")
        kernel = self._orthogonal_kernel(shape[0], shape[-2], shape[-1])
        return kernel * math_ops.cast(self.gain, self.dtype if dtype is None else dtype)

    def _next_seed(self):
        seed = self.seed
        if self.seed:
            self.seed += 1
        return seed

    def _projection(self, n):
        """A symmetric matrix that is its own square: onto some of the columns of an orthogonal one."""
        q = _orthogonal_columns(n, n, self.dtype, self._next_seed())
        chosen = math_ops.cast(random_ops.random_normal([n], seed=self._next_seed()) > 0, self.dtype)
        return math_ops.matmul(q * chosen, q * chosen, transpose_b=True)

    def _block(self, n):
        """A kernel of width 2 by place: products of projections and of what they leave."""
        identity = array_ops.matrix_diag(array_ops.ones([n], self.dtype))
        parts = [(p, identity - p) for p in [self._projection(n) for _ in range(self._NDIMS)]]
        block = {}
        for place in itertools.product(range(2), repeat=self._NDIMS):
            product = parts[0][place[0]]
            for part, side in zip(parts[1:], place[1:]):
                product = math_ops.matmul(product, part[side])
            block[place] = product
        return block

    def _orthogonal_kernel(self, size, inputs, outputs):
        matrix = _orthogonal_columns(outputs, outputs, self.dtype, self._next_seed())[:inputs, :]
        if size == 1:
            return array_ops.reshape(matrix, [1] * self._NDIMS + [inputs, outputs])
        kernel = self._block(outputs)
        for _ in range(size - 2):
            kernel = _convolve(kernel, self._block(outputs))
        places = itertools.product(range(size), repeat=self._NDIMS)
        values = array_ops.stack([math_ops.matmul(matrix, kernel[place]) for place in places])
        return array_ops.reshape(values, [size] * self._NDIMS + [inputs, outputs])


def _convolve(a, b):
    """Kernels of matrices by place."""
    sums = {}
    for (i, x), (j, y) in itertools.product(a.items(), b.items()):
        place = tuple(m + n for m, n in zip(i, j))
        sums.setdefault(place, []).append(math_ops.matmul(x, y))
    return {place: math_ops.add_n(terms) for place, terms in sums.items()}


class ConvolutionOrthogonal1D(ConvolutionOrthogonal):
    _NDIMS, _WORD = 1, "three"


class ConvolutionOrthogonal2D(ConvolutionOrthogonal):
    _NDIMS, _WORD = 2, "four"


class ConvolutionOrthogonal3D(ConvolutionOrthogonal):
    _NDIMS, _WORD = 3, "five"
