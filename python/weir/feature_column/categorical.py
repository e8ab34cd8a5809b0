"""Columns of classes: by hash, vocabulary, number, or crossed with others."""

import collections

import numpy as np

import weir as tf
from weir import logging
from weir.feature_column.base import CategoricalColumn, _check_string_key, _check_string_or_int, _sparse_input


class _KeyColumn(CategoricalColumn):
    """A column of one feature's classes."""

    name = property(lambda self: self.key)

    @property
    def _parse_example_spec(self):
        return {self.key: tf.VarLenFeature(self._parsed_type)}

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        return self.IdWeightPair(inputs.get(self), None)

    def _checked_input(self, inputs):
        """The feature, sparse, whose type must be of the column's kind."""
        tensor = _sparse_input(inputs.get(self.key))
        if self.dtype.is_integer != tensor.dtype.is_integer:
            raise ValueError(f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column dtype: "
                             f"{self.dtype}, tensor dtype: {tensor.dtype}")
        _check_string_or_int(tensor.dtype, f"column_name: {self.key} input_tensor")
        return tensor


def _with_values(sparse, values):
    return tf.SparseTensor(sparse.indices, values, sparse.dense_shape)


class HashedCategoricalColumn(_KeyColumn, collections.namedtuple("HashedCategoricalColumn", (
        "key", "hash_bucket_size", "dtype"))):
    _parsed_type = property(lambda self: self.dtype)
    _num_buckets = property(lambda self: self.hash_bucket_size)

    def _transform_feature(self, inputs):
        tensor = _sparse_input(inputs.get(self.key))
        if not isinstance(tensor, tf.SparseTensor):
            raise ValueError("SparseColumn input must be a SparseTensor.")
        _check_string_or_int(tensor.dtype, f"column_name: {self.key} input_tensor")
        if self.dtype.is_integer != tensor.dtype.is_integer:
            raise ValueError(f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column dtype: "
                             f"{self.dtype}, tensor dtype: {tensor.dtype}")
        values = tensor.values if self.dtype == tf.string else tf.as_string(tensor.values)
        return _with_values(tensor, tf.string_to_hash_bucket_fast(values, self.hash_bucket_size, name="lookup"))


class _VocabularyColumn(_KeyColumn):
    _parsed_type = property(lambda self: self.dtype)

    def _transform_feature(self, inputs):
        tensor, key_dtype = self._checked_input(inputs), self.dtype
        if tensor.dtype.is_integer:  # tables of numbers have 64 bits
            key_dtype, tensor = tf.int64, tf.cast(tensor, tf.int64)
        return self._table(key_dtype).lookup(tensor)


class VocabularyFileCategoricalColumn(_VocabularyColumn, collections.namedtuple("VocabularyFileCategoricalColumn", (
        "key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value"))):
    _num_buckets = property(lambda self: self.vocabulary_size + self.num_oov_buckets)

    def _table(self, key_dtype):
        return tf.contrib.lookup.index_table_from_file(
            vocabulary_file=self.vocabulary_file, num_oov_buckets=self.num_oov_buckets, vocab_size=self.vocabulary_size,
            default_value=self.default_value, key_dtype=key_dtype, name=f"{self.key}_lookup")


class VocabularyListCategoricalColumn(_VocabularyColumn, collections.namedtuple("VocabularyListCategoricalColumn", (
        "key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets"))):
    _num_buckets = property(lambda self: len(self.vocabulary_list) + self.num_oov_buckets)

    def _table(self, key_dtype):
        return tf.contrib.lookup.index_table_from_tensor(
            tuple(self.vocabulary_list), default_value=self.default_value, num_oov_buckets=self.num_oov_buckets,
            dtype=key_dtype, name=f"{self.key}_lookup")


class IdentityCategoricalColumn(_KeyColumn, collections.namedtuple("IdentityCategoricalColumn", (
        "key", "number_buckets", "default_value"))):
    _parsed_type = property(lambda self: tf.int64)
    _num_buckets = property(lambda self: self.number_buckets)

    def _transform_feature(self, inputs):
        tensor = _sparse_input(inputs.get(self.key))
        if not tensor.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {tensor.dtype}")
        values = tf.cast(tensor.values, tf.int64, name="values")
        count = tf.cast(self.number_buckets, tf.int64, name="num_buckets")
        zero = tf.cast(0, tf.int64, name="zero")
        if self.default_value is None:
            checks = [tf.assert_less(values, count, data=(values, count), name="assert_less_than_num_buckets"),
                      tf.assert_greater_equal(values, zero, data=(values,), name="assert_greater_or_equal_0")]
            with tf.control_dependencies(checks):
                values = tf.identity(values)
        else:
            outside = tf.logical_or(tf.less(values, zero), tf.greater_equal(values, count), name="out_of_range")
            default = tf.fill(dims=tf.shape(values), value=tf.cast(self.default_value, tf.int64), name="default_values")
            values = tf.where(outside, default, values)
        return _with_values(tensor, values)


class WeightedCategoricalColumn(CategoricalColumn, collections.namedtuple("WeightedCategoricalColumn", (
        "categorical_column", "weight_feature_key", "dtype"))):
    name = property(lambda self: f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}")
    _num_buckets = property(lambda self: self.categorical_column._num_buckets)

    @property
    def _parse_example_spec(self):
        spec = dict(self.categorical_column._parse_example_spec)
        if self.weight_feature_key in spec:
            raise ValueError(f"Parse config {spec[self.weight_feature_key]} already exists for "
                             f"{self.weight_feature_key}.")
        spec[self.weight_feature_key] = tf.VarLenFeature(self.dtype)
        return spec

    def _transform_feature(self, inputs):
        weights = inputs.get(self.weight_feature_key)
        if weights is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        weights = tf.convert_to_tensor_or_sparse_tensor(weights)
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        if not isinstance(weights, tf.SparseTensor):
            weights = _sparse_input(weights, ignore_value=0.0)
        if not weights.dtype.is_floating:
            weights = tf.cast(weights, tf.float32)
        return inputs.get(self.categorical_column), weights

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        return self.IdWeightPair(*inputs.get(self))


class CrossedColumn(CategoricalColumn, collections.namedtuple("CrossedColumn", (
        "keys", "hash_bucket_size", "hash_key"))):
    _num_buckets = property(lambda self: self.hash_bucket_size)

    @property
    def name(self):
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in _leaves(self)))

    @property
    def _parse_example_spec(self):
        spec = {}
        for key in self.keys:
            spec.update({key: tf.VarLenFeature(tf.string)} if isinstance(key, str) else key._parse_example_spec)
        return spec

    def _transform_feature(self, inputs):
        tensors = []
        for key in _leaves(self):
            if isinstance(key, str):
                tensors.append(inputs.get(key))
                continue
            ids, weights = key._get_sparse_tensors(inputs)
            if weights is not None:
                raise ValueError("crossed_column does not support weight_tensor, but the given column populates "
                                 f"weight_tensor. Given column: {key.name}")
            tensors.append(ids)
        return tf.sparse.cross_hashed(inputs=tensors, num_buckets=self.hash_bucket_size, hash_key=self.hash_key)

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        return self.IdWeightPair(inputs.get(self), None)


def _leaves(column):
    """The keys of a cross, those of crosses in it instead of these."""
    found = []
    for key in column.keys:
        found += _leaves(key) if isinstance(key, CrossedColumn) else [key]
    return found


class SequenceCategoricalColumn(CategoricalColumn, collections.namedtuple("SequenceCategoricalColumn", (
        "categorical_column",))):
    """Classes in an order: [batch, time] becomes [batch, time, 1]."""

    name = property(lambda self: self.categorical_column.name)
    _num_buckets = property(lambda self: self.categorical_column._num_buckets)
    _parse_example_spec = property(lambda self: self.categorical_column._parse_example_spec)

    def _transform_feature(self, inputs):
        return self.categorical_column._transform_feature(inputs)

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        ids, weights = self.categorical_column._get_sparse_tensors(inputs)

        def with_steps(sparse):
            shape = tf.shape(sparse)
            target = [shape[0], shape[1], -1 if sparse.get_shape().ndims != 2 else 1]
            return tf.sparse_reshape(sparse, target)

        return self.IdWeightPair(with_steps(ids), None if weights is None else with_steps(weights))


def categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=tf.string):
    """Classes by the hash of texts or numbers."""
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    _check_string_key(key)
    _check_string_or_int(tf.as_dtype(dtype), f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, tf.as_dtype(dtype))


def _check_oov(key, num_oov_buckets, default_value, no_default):
    if num_oov_buckets:
        if default_value != no_default:
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0,
                                            default_value=None, dtype=tf.string):
    """Classes by the line of a file that a text stands in."""
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not tf.gfile.Exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with tf.gfile.GFile(vocabulary_file) as file:
            vocabulary_size = sum(1 for _ in file)
        logging.info("vocabulary_size = %d in %s is inferred from the number of elements in the vocabulary_file %s.",
                     vocabulary_size, key, vocabulary_file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_oov(key, num_oov_buckets, default_value, None)
    dtype = tf.as_dtype(dtype)
    _check_string_or_int(dtype, f"column_name: {key}")
    _check_string_key(key)
    return VocabularyFileCategoricalColumn(
        key=key, vocabulary_file=vocabulary_file, vocabulary_size=vocabulary_size, num_oov_buckets=num_oov_buckets or 0,
        default_value=-1 if default_value is None else default_value, dtype=dtype)


def categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0):
    """Classes by the place in a list."""
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    own = tf.as_dtype(np.array(vocabulary_list).dtype)
    _check_oov(key, num_oov_buckets, default_value, -1)
    _check_string_or_int(own, f"column_name: {key} vocabulary")
    dtype = own if dtype is None else tf.as_dtype(dtype)
    if dtype.is_integer != own.is_integer:
        raise ValueError(f"dtype {dtype} and vocabulary dtype {own} do not match, column_name: {key}")
    _check_string_or_int(dtype, f"column_name: {key}")
    _check_string_key(key)
    return VocabularyListCategoricalColumn(key=key, vocabulary_list=tuple(vocabulary_list), dtype=dtype,
                                           default_value=default_value, num_oov_buckets=num_oov_buckets)


def categorical_column_with_identity(key, num_buckets, default_value=None):
    """Classes by their number."""
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    _check_string_key(key)
    return IdentityCategoricalColumn(key=key, number_buckets=num_buckets, default_value=default_value)


def weighted_categorical_column(categorical_column, weight_feature_key, dtype=tf.float32):
    """Classes with weights of another feature."""
    if dtype is None or not (tf.as_dtype(dtype).is_integer or tf.as_dtype(dtype).is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, tf.as_dtype(dtype))


def crossed_column(keys, hash_bucket_size, hash_key=None):
    """A class for each combination of classes, by hash."""
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError("Unsupported key type. All keys must be either string, or categorical column except "
                             f"HashedCategoricalColumn. Given: {key}")
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError("categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing "
                             "will increase probability of collision. Instead, use the feature name as a string. Given: "
                             f"{key}")
    return CrossedColumn(keys=tuple(keys), hash_bucket_size=hash_bucket_size, hash_key=hash_key)


def sequence_categorical_column_with_identity(key, num_buckets, default_value=None):
    return SequenceCategoricalColumn(categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=tf.string):
    return SequenceCategoricalColumn(categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0,
                                                     default_value=None, dtype=tf.string):
    return SequenceCategoricalColumn(categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype))


def sequence_categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1,
                                                     num_oov_buckets=0):
    return SequenceCategoricalColumn(categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value,
                                                                             num_oov_buckets))
