"""Values and shapes of a distribution's parameters: numbers where the graph already has them, tensors elsewhere."""

import inspect

import numpy as np

import weir as tf
from weir.distributions.distribution_util import assert_integer_form


def maybe_get_static_value(x, dtype=None):
    """The value as an array if the graph alone decides it, else None."""
    if x is None:
        return None
    value = tf.contrib.util.constant_value(x) if isinstance(x, tf.Tensor) else np.asarray(x)
    return value if value is None or dtype is None else np.array(value, dtype)


def prefer_static_value(x):
    value = maybe_get_static_value(x)
    return x if value is None else value


def prefer_static_rank(x):
    return prefer_static_value(tf.rank(x))


def prefer_static_shape(x):
    return prefer_static_value(tf.shape(x))


def same_dynamic_shape(a, b):
    """Whether two tensors have one shape, as a tensor."""
    a, b = tf.convert_to_tensor(a, name="a"), tf.convert_to_tensor(b, name="b")

    def same_sizes():  # joined both ways, so that the graph is sound for ranks that differ
        return tf.reduce_all(tf.equal(tf.concat([tf.shape(a), tf.shape(b)], 0), tf.concat([tf.shape(b), tf.shape(a)], 0)))

    return tf.cond(tf.equal(tf.rank(a), tf.rank(b)), same_sizes, lambda: tf.constant(False))


def parent_frame_arguments():
    """The arguments of the function that calls this one, those of ``**kwargs`` among them."""
    names, _, keywords, values = inspect.getargvalues(inspect.currentframe().f_back)
    found = {name: values[name] for name in names}
    found.update(values[keywords] if keywords else {})
    return found


def _is_integer_like(dtype):
    return dtype.is_integer or dtype.base_dtype == tf.bool


def _limits(dtype):
    """The smallest and the largest number up to which all whole ones are there."""
    if dtype.base_dtype == tf.bool:
        return 0, 1
    if dtype.is_floating:
        largest = 2**(np.finfo(dtype.as_numpy_dtype).nmant + 1)
        return -largest, largest
    return np.iinfo(dtype.as_numpy_dtype).min, np.iinfo(dtype.as_numpy_dtype).max


def embed_check_integer_casting_closed(x, target_dtype, assert_nonnegative=True, name="embed_check_casting_closed"):
    """x, with checks that its elements are the same numbers in another type; one of the types is an integer one."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        if not _is_integer_like(x.dtype) and not x.dtype.is_floating:
            raise TypeError(f"{x.dtype.name}.dtype must be floating- or integer-type.")
        if not _is_integer_like(target_dtype) and not target_dtype.is_floating:
            raise TypeError(f"target_dtype ({target_dtype.name}) must be floating- or integer-type.")
        if not _is_integer_like(x.dtype) and not _is_integer_like(target_dtype):
            raise TypeError(f"At least one of {x}.dtype ({x.dtype.name}) and target_dtype ({target_dtype.name}) must be "
                            "integer-type.")
        checks = [tf.assert_non_negative(x, message="Elements must be non-negative.")] if assert_nonnegative else []
        (low, high), (target_low, target_high) = _limits(x.dtype), _limits(target_dtype)
        if x.dtype.is_floating:
            checks.append(assert_integer_form(x, int_dtype=target_dtype,
                                              message=f"Elements must be {target_dtype.name}-equivalent."))
        else:
            if high > target_high:
                checks.append(tf.assert_less_equal(x, tf.constant(target_high, x.dtype),
                                                   message=f"Elements cannot exceed {target_high}."))
            if not assert_nonnegative and low < target_low:
                checks.append(tf.assert_greater_equal(x, tf.constant(target_low, x.dtype),
                                                      message=f"Elements cannot be smaller than {target_low}."))
        with tf.control_dependencies(checks):
            return tf.identity(x) if checks else x


def pad(x, axis, front=False, back=False, value=0, count=1, name=None):
    """``count`` times a value before or behind a tensor along an axis."""
    with tf.name_scope(name, "pad", [x, value, count]):
        x = tf.convert_to_tensor(x, name="x")
        value = tf.convert_to_tensor(value, dtype=x.dtype, name="value")
        count, axis = tf.convert_to_tensor(count, name="count"), tf.convert_to_tensor(axis, name="axis")
        if not count.dtype.is_integer:
            raise TypeError(f"`count.dtype` (`{count.dtype.name}`) must be `int`-like.")
        if not front and not back:
            raise ValueError("At least one of `front`, `back` must be `True`.")
        ndims = tf.rank(x) if x.shape.ndims is None else x.shape.ndims
        axis = tf.where(axis < 0, axis + ndims, axis)
        sides = tf.stack([axis if front else -1, axis if back else -1])
        padded = tf.pad(x, tf.one_hot(sides, depth=ndims, axis=0, on_value=count, off_value=tf.zeros_like(count),
                                      dtype=count.dtype), constant_values=value)
        at, times = tf.contrib.util.constant_value(axis), tf.contrib.util.constant_value(count)
        if at is not None and x.shape.ndims is not None:
            sizes = x.shape.as_list()
            known = sizes[int(at)] is not None and times is not None
            sizes[int(at)] = sizes[int(at)] + int(times) * (bool(front) + bool(back)) if known else None
            padded.set_shape(sizes)
        return padded
