"""tensorflow.contrib.distributions.python.ops.distribution_util, and tensorflow.python.ops.distributions.util: what programs
that write distributions of their own reach for."""

import numpy as np

import weir as tf
from weir.distributions.discrete import _logits_and_probs


def assert_close(x, y, data=None, summarize=None, message=None, name="assert_close"):
    """An operation that fails unless x and y are equal, but for rounding."""
    with tf.name_scope(name, values=[x, y]):
        x = tf.convert_to_tensor(x, name="x")
        y = tf.convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        if data is None:
            data = [message or "", f"Condition x ~= y did not hold element-wise: x = {x.name}", x, f"y = {y.name}", y]
        if x.dtype.is_integer:
            return tf.assert_equal(x, y, data=data, summarize=summarize)
        tolerance = np.finfo(x.dtype.as_numpy_dtype).resolution
        return tf.Assert(tf.reduce_all(tf.less_equal(tf.abs(x - y), tolerance)), data, summarize=summarize)


def assert_integer_form(x, data=None, summarize=None, message=None, int_dtype=None, name="assert_integer_form"):
    """An operation that fails unless all numbers are whole."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return tf.no_op()
        message = message or f"{x.op.name} has non-integer components"
        whole = tf.floor(x) if int_dtype is None else tf.cast(tf.cast(x, int_dtype), x.dtype)
        return tf.assert_equal(x, whole, data=data or [message, "x has non-integer components", x], summarize=summarize)


def assert_symmetric(matrix):
    """``matrix``, after a check that it is its transpose."""
    with tf.control_dependencies([tf.assert_equal(matrix, tf.matrix_transpose(matrix))]):
        return tf.identity(matrix)


def embed_check_nonnegative_integer_form(x, name="embed_check_nonnegative_integer_form"):
    """``x``, after a check that its numbers are whole and not negative."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        checks = [tf.assert_non_negative(x, message=f"'{x.op.name}' must be non-negative.")]
        if not x.dtype.is_integer:
            checks.append(assert_integer_form(x, message=f"'{x.op.name}' cannot contain fractional components."))
        with tf.control_dependencies(checks):
            return tf.identity(x)


def get_logits_and_probs(logits=None, probs=None, multidimensional=False, validate_args=False,
                         name="get_logits_and_probs", dtype=None):
    """Log-odds and probabilities, of the ones that are given."""
    return _logits_and_probs(logits, probs, validate_args, multidimensional, name)


def get_logits_and_prob(logits=None, p=None, multidimensional=False, validate_args=False, name="GetLogitsAndProb"):
    """``get_logits_and_probs`` as it was before TensorFlow 1.0."""
    return _logits_and_probs(logits, p, validate_args, multidimensional, name)


def log_combinations(n, counts, name="log_combinations"):
    """The logarithm of the number of ways to put n things into boxes, ``counts`` of them into each."""
    with tf.name_scope(name, values=[n, counts]):
        n = tf.convert_to_tensor(n, name="n")
        counts = tf.convert_to_tensor(counts, name="counts", dtype=n.dtype.base_dtype)
        return tf.lgamma(n + 1) - tf.reduce_sum(tf.lgamma(counts + 1), axis=[-1])


def rotate_transpose(x, shift, name="rotate_transpose"):
    """x with its dimensions moved ``shift`` places to the right, the last ones to the front."""
    with tf.name_scope(name, values=[x, shift]):
        x = tf.convert_to_tensor(x, name="x")
        shift = tf.convert_to_tensor(shift, name="shift", preferred_dtype=tf.int32)
        known, rank = tf.contrib.util.constant_value(shift), x.get_shape().ndims
        if known is not None and rank is not None:
            return tf.transpose(x, np.roll(np.arange(rank), int(known)).tolist())
        rank = tf.rank(x)
        return tf.transpose(x, tf.floormod(tf.range(rank) - tf.cast(shift, tf.int32), rank))


def pick_vector(cond, true_vector, false_vector, name="pick_vector"):
    """One of two vectors, which may be of different lengths."""
    with tf.name_scope(name, values=[cond, true_vector, false_vector]):
        cond = tf.convert_to_tensor(cond, name="cond")
        if cond.dtype != tf.bool:
            raise TypeError(f"{cond.name}.dtype={cond.dtype} which is not {tf.bool}")
        known = tf.contrib.util.constant_value(cond)
        if known is not None and cond.op.type == "Const":
            return true_vector if known else false_vector
        true_vector = tf.convert_to_tensor(true_vector, name="true_vector")
        false_vector = tf.convert_to_tensor(false_vector, name="false_vector", dtype=true_vector.dtype.base_dtype)
        length = tf.shape(true_vector)[0]
        return tf.slice(tf.concat([true_vector, false_vector], 0), [tf.where(cond, 0, length)], [tf.where(cond, length, -1)])


def fill_lower_triangular(x, validate_args=False, name="fill_lower_triangular"):
    """A lower triangular matrix, filled row by row."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        size = x.get_shape()[-1].value
        if size is None:
            raise ValueError("the last dimension of x must be known")
        n = int(round((np.sqrt(1.0 + 8.0 * size) - 1.0) / 2.0))
        if n * (n + 1) // 2 != size:
            raise ValueError(f"{size} numbers do not fill a triangle")
        places = np.full([n, n], size, np.int32)
        places[np.tril_indices(n)] = np.arange(size)
        padded = tf.concat([x, tf.zeros_like(x[..., :1])], -1)  # where nothing belongs, the zero behind the last
        matrix = tf.gather(padded, places.reshape(-1), axis=-1)
        return tf.reshape(matrix, tf.concat([tf.shape(x)[:-1], [n, n]], 0))
