"""Functions that distributions are made with."""

import hashlib

import numpy as np

import weir as tf


def softplus_inverse(x, name=None):
    """The number whose softplus is x, exact for very small and very large ones."""
    with tf.name_scope(name, "softplus_inverse", values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        threshold = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        small, large = tf.less(x, np.exp(threshold)), tf.greater(x, -threshold)
        safe = tf.where(tf.logical_or(small, large), tf.ones_like(x), x)
        return tf.where(small, tf.log(x), tf.where(large, x, safe + tf.log(-tf.expm1(-safe))))


def reduce_weighted_logsumexp(logx, w=None, axis=None, keep_dims=False, return_sign=False, name=None):
    """log |sum(w exp(logx))|"""
    with tf.name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = tf.convert_to_tensor(logx, name="logx")
        if w is None:
            value = tf.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (value, tf.ones_like(value)) if return_sign else value
        log_absw_x = logx + tf.log(tf.abs(w))
        largest = tf.stop_gradient(tf.reduce_max(log_absw_x, axis=axis, keepdims=True))
        largest = tf.where(tf.is_inf(largest), tf.zeros_like(largest), largest)
        total = tf.reduce_sum(tf.sign(w) * tf.exp(log_absw_x - largest), axis=axis, keepdims=keep_dims)
        largest = largest if keep_dims else tf.squeeze(largest, axis)
        value = largest + tf.log(tf.abs(total))
        return (value, tf.sign(total)) if return_sign else value


def fill_triangular(x, upper=False, name=None):
    """A triangular matrix of a vector, in the order of TensorFlow: clockwise, inwards."""
    with tf.name_scope(name, "fill_triangular", values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        m = x.get_shape()[-1].value if x.get_shape().ndims else None
        if m is None:  # n is the larger root of n (n + 1) / 2 = m
            n = tf.cast(tf.round(tf.sqrt(0.25 + 2.0 * tf.cast(tf.shape(x)[-1], tf.float64)) - 0.5), tf.int32)
        else:
            n = int(round(np.sqrt(0.25 + 2.0 * m) - 0.5))
            if n * (n + 1) // 2 != m:
                raise ValueError(f"Input right-most shape ({m}) does not correspond to a triangular matrix.")
        parts = [x, tf.reverse(x[..., n:], axis=[-1])] if upper else [x[..., n:], tf.reverse(x, axis=[-1])]
        joined = tf.concat(parts, axis=-1)
        matrix = tf.reshape(joined, tf.concat([tf.shape(x)[:-1], [n, n]], axis=0))
        return tf.matrix_band_part(matrix, 0 if upper else -1, -1 if upper else 0)


def fill_triangular_inverse(x, upper=False, name=None):
    """The vector that fill_triangular made a matrix of."""
    with tf.name_scope(name, "fill_triangular_inverse", values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        n = x.get_shape()[-1].value
        rows = tf.reshape(x, tf.concat([tf.shape(x)[:-2], [n * n]], 0))
        return tf.gather(rows, _order(n, upper), axis=-1)


def _order(n, upper):
    """Where each element of the vector stands in the flat matrix."""
    m = n * (n + 1) // 2
    numbers = np.arange(1, m + 1)
    flat = np.concatenate([numbers, numbers[n:][::-1]] if upper else [numbers[n:], numbers[::-1]])
    cut = (np.triu if upper else np.tril)(flat.reshape(n, n)).reshape(-1)
    return np.array([int(np.flatnonzero(cut == i)[0]) for i in numbers], np.int32)


def matrix_diag_transform(matrix, transform=None, name=None):
    """A matrix whose diagonal a function has changed."""
    with tf.name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = tf.convert_to_tensor(matrix, name="matrix")
        return matrix if transform is None else tf.matrix_set_diag(matrix, transform(tf.matrix_diag_part(matrix)))


def tridiag(below=None, diag=None, above=None, name=None):
    """A matrix with three diagonals."""
    with tf.name_scope(name, "tridiag", [below, diag, above]):
        parts = [] if below is None else [_shifted(tf.convert_to_tensor(below), True)]
        parts += [] if diag is None else [tf.matrix_diag(diag)]
        parts += [] if above is None else [_shifted(tf.convert_to_tensor(above), False)]
        if not parts:
            raise ValueError("Must specify at least one of {below, diag, above}.")
        return tf.add_n(parts)


def _shifted(x, below):
    """A matrix with a vector beside the diagonal."""
    square = tf.matrix_diag(x)
    pad = [[0, 0]] * (x.get_shape().ndims - 1)
    return tf.pad(square, pad + ([[1, 0], [0, 1]] if below else [[0, 1], [1, 0]]))


def percentile(x, q, axis=None, interpolation=None, keep_dims=False, validate_args=False, name=None):
    """The value that q percent of others are below."""
    name = name or "percentile"
    if interpolation not in (None, "nearest", "lower", "higher"):
        raise ValueError(f"Argument 'interpolation' must be one of lower, higher, nearest. Found {interpolation}")
    with tf.name_scope(name, [x, q]):
        x = tf.convert_to_tensor(x, name="x")
        rank = x.get_shape().ndims
        axes = list(range(rank)) if axis is None else sorted(a % rank for a in np.atleast_1d(axis))
        kept = [a for a in range(rank) if a not in axes]
        shape = tf.shape(x)
        moved = tf.reshape(tf.transpose(x, kept + axes), tf.concat([tf.gather(shape, kept) if kept else tf.zeros(
            [0], tf.int32), [-1]], 0))
        count = tf.shape(moved)[-1]
        ordered = tf.reverse(tf.nn.top_k(moved, k=count)[0], axis=[-1])
        place = tf.to_double(count - 1) * tf.to_double(q) / 100.0
        place = {"lower": tf.floor, "higher": tf.ceil}.get(interpolation, tf.round)(place)
        found = tf.gather(ordered, tf.clip_by_value(tf.cast(place, tf.int32), 0, count - 1), axis=-1)
        if keep_dims:
            for a in axes:
                found = tf.expand_dims(found, a)
        return found


class SeedStream:
    """Different seeds of one seed, one after another."""

    def __init__(self, seed, salt):
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt, self._counter = salt, 0

    original_seed = property(lambda self: self._seed)
    salt = property(lambda self: self._salt)

    def __call__(self):
        self._counter += 1
        if self._seed is None:
            return None
        text = (str(self._seed) + str(self._counter) + self._salt).encode("utf-8")
        return int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF
