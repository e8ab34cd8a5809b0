"""Columns of numbers: as they are, and sorted into buckets."""

import collections

import weir as tf
from weir import nest
from weir.core.op_functions import apply
from weir.feature_column.base import CategoricalColumn, DenseColumn, _check_string_key


class NumericColumn(DenseColumn, collections.namedtuple("NumericColumn", (
        "key", "shape", "default_value", "dtype", "normalizer_fn"))):
    name = property(lambda self: self.key)

    @property
    def _parse_example_spec(self):
        return {self.key: tf.FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def _transform_feature(self, inputs):
        tensor = inputs.get(self.key)
        if isinstance(tensor, tf.SparseTensor):
            raise ValueError("The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not "
                             f"supported. key: {self.key}")
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return tf.cast(tensor, tf.float32)

    _variable_shape = property(lambda self: tf.TensorShape(self.shape))

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return inputs.get(self)


class BucketizedColumn(DenseColumn, CategoricalColumn, collections.namedtuple("BucketizedColumn", (
        "source_column", "boundaries"))):
    name = property(lambda self: f"{self.source_column.name}_bucketized")
    _parse_example_spec = property(lambda self: self.source_column._parse_example_spec)

    def _transform_feature(self, inputs):
        return apply("Bucketize", (inputs.get(self.source_column),), {"boundaries": list(self.boundaries)}, None)

    @property
    def _variable_shape(self):
        return tf.TensorShape(tuple(self.source_column.shape) + (len(self.boundaries) + 1,))

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return tf.one_hot(indices=tf.cast(inputs.get(self), tf.int64), depth=len(self.boundaries) + 1, on_value=1.0,
                          off_value=0.0)

    @property
    def _num_buckets(self):
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        """Each element of an example has buckets of its own."""
        tensor = inputs.get(self)
        size, elements = tf.shape(tensor)[0], self.source_column.shape[0]
        rows = tf.reshape(tf.tile(tf.expand_dims(tf.range(0, size), 1), [1, elements]), (-1,))
        columns = tf.tile(tf.range(0, elements), [size])
        buckets = tf.reshape(tensor, (-1,)) + (len(self.boundaries) + 1) * columns
        indices = tf.cast(tf.transpose(tf.stack((rows, columns))), tf.int64)
        shape = tf.cast(tf.stack([size, elements]), tf.int64)
        return self.IdWeightPair(tf.SparseTensor(indices, buckets, shape), None)


def _checked_shape(shape, key):
    if not nest.is_sequence(shape):
        shape = [shape]
    shape = tuple(shape)
    for dimension in shape:
        if not isinstance(dimension, int):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        if dimension < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
    return shape


def _filled(shape, value):
    return tuple(_filled(shape[1:], value) for _ in range(shape[0])) if shape else value


def _as_tuple(value):
    return tuple(map(_as_tuple, value)) if nest.is_sequence(value) else value


def _has_shape(value, shape):
    if nest.is_sequence(value) != bool(shape):
        return False
    return not shape or (len(value) == shape[0] and all(_has_shape(part, shape[1:]) for part in value))


def _checked_default(shape, value, dtype, key):
    """The value of missing features, for every element."""
    if value is None:
        return None
    if isinstance(value, int) or isinstance(value, float) and dtype.is_floating:
        return _filled(shape, value)
    if callable(getattr(value, "tolist", None)):
        value = value.tolist()
    if nest.is_sequence(value):
        if not _has_shape(value, shape):
            raise ValueError("The shape of default_value must be equal to given shape. "
                             f"default_value: {value}, shape: {shape}, key: {key}")
        parts = nest.flatten(value)
        if all(isinstance(part, int) for part in parts) or (
                any(isinstance(part, float) for part in parts) and dtype.is_floating):
            return _as_tuple(value)
    raise TypeError(f"default_value must be compatible with dtype. default_value: {value}, dtype: {dtype}, key: {key}")


def numeric_column(key, shape=(1,), default_value=None, dtype=tf.float32, normalizer_fn=None):
    """A column of numbers."""
    shape, dtype = _checked_shape(shape, key), tf.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    default_value = _checked_default(shape, default_value, dtype, key)
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    _check_string_key(key)
    return NumericColumn(key, shape=shape, default_value=default_value, dtype=dtype, normalizer_fn=normalizer_fn)


def bucketized_column(source_column, boundaries):
    """The buckets that a column's numbers fall into; a boundary belongs to the bucket above it."""
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)) or any(a >= b for a, b in zip(boundaries, boundaries[1:])):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))
