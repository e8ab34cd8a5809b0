"""tf.contrib.layers' feature columns, which came before tf.feature_column. The names of their classes and fields are
TensorFlow's: columns are put in the order of their texts, and checkpoints depend on it."""

import collections
import math

import weir as tf
from weir import logging
from weir.contrib.framework.variables import model_variable
from weir.contrib.layers.embedding_ops import safe_embedding_lookup_sparse
from weir.contrib.layers.layers import _inner_flatten
from weir.core.op_functions import apply
from weir.feature_column import base as columns_base
from weir.feature_column.base import _sparse_input

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 956888297470


class _FeatureColumn(columns_base.FeatureColumn):
    """A column: ``_transform(get)`` is its tensor, where ``get(key)`` gives a feature or another column's tensor."""

    __lt__, __gt__ = tuple.__lt__, tuple.__gt__
    key = property(lambda self: str(self))

    def _transform_feature(self, inputs):  # as a column of tf.feature_column
        return self._transform(inputs.get)

    def _to_dnn_input_layer(self, transformed_input_tensor, weight_collections=None, trainable=True, output_rank=2):
        return self._deep(transformed_input_tensor, weight_collections, trainable, output_rank)

    _parse_example_spec = property(lambda self: self.config)

    def _deep(self, tensor, collections_, trainable, rank):
        """Its part of the input of a deep model."""
        raise ValueError(f"{type(self).__name__.lstrip('_')} is not supported in DNN. Please use embedding_column or "
                         f"one_hot_column. column: {self}")

    def _wide(self, tensor):
        """(ids, weights, size, combiner) for a linear model; None for columns of numbers."""
        return None

    def _dense(self, tensor):
        raise ValueError(f"No dense tensor representation for column {self}.")

    def _checkpoint(self):
        return None

    def _key_without(self, *fields):
        shown = (f"{name}={value}" for name, value in zip(self._fields, self) if name not in fields)
        return f"{type(self).__name__}({', '.join(shown)})"

    def insert_transformed_feature(self, columns_to_tensors):
        _Transformer(columns_to_tensors).transform(self)


class _Transformer:
    """The tensors of columns, each made once."""

    def __init__(self, columns_to_tensors):
        self._tensors = columns_to_tensors

    def transform(self, key):
        if key not in self._tensors:
            if isinstance(key, str):
                raise ValueError(f"features dictionary doesn't contain key ({key})")
            self._tensors[key] = key._transform(self.transform)
        return self._tensors[key]


class _Dense(columns_base.DenseColumn):
    """A column of this module that tf.feature_column's models take for numbers."""

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return self._deep(inputs.get(self), weight_collections, trainable is None or trainable, 2)


class _Categorical(columns_base.CategoricalColumn):
    """A column of this module that tf.feature_column's models take for classes."""

    _num_buckets = property(lambda self: self.length)

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        tensor = inputs.get(self)
        return self.IdWeightPair(self.id_tensor(tensor), self.weight_tensor(tensor))


def _of_rank(tensor, rank, name):
    own = tensor.get_shape().ndims
    if own is not None:
        if rank > own + 1:
            raise ValueError(f"Error while processing column {name}.Rank of input Tensor ({own}) should be the same as "
                             f"output_rank ({rank}). For example, sequence data should typically be 3 dimensional (rank "
                             "3) while non-sequence data is typically 2 dimensional (rank 2).")
        if rank == own + 1:
            return tf.expand_dims(tensor, -1, name="expand_dims")
        if rank == own:
            return tensor
    return _inner_flatten(tensor, rank)


_SparseIdLookupConfig = collections.namedtuple("_SparseIdLookupConfig", [
    "vocabulary_file", "keys", "num_oov_buckets", "vocab_size", "default_value"], defaults=(None, None, 0, None, -1))


class _SparseColumn(_FeatureColumn, _Categorical, collections.namedtuple("_SparseColumn", [
        "column_name", "is_integerized", "bucket_size", "lookup_config", "combiner", "dtype"])):
    def __new__(cls, column_name, is_integerized=False, bucket_size=None, lookup_config=None, combiner="sum",
                dtype=tf.string):
        dtype = tf.as_dtype(dtype)
        if is_integerized and not dtype.is_integer:
            raise ValueError(f"dtype must be an integer if is_integerized is True. dtype: {dtype}, column_name: "
                             f"{column_name}.")
        if dtype != tf.string and not dtype.is_integer:
            raise ValueError(f"dtype must be string or integer. dtype: {dtype}, column_name: {column_name}")
        if bucket_size is not None and bucket_size < 1:
            raise ValueError(f"bucket_size must be at least 1. bucket_size: {bucket_size}, column_name: {column_name}")
        return super().__new__(cls, column_name, is_integerized, bucket_size, lookup_config, combiner, dtype)

    name = property(lambda self: self.column_name)
    config = property(lambda self: {self.column_name: tf.VarLenFeature(self.dtype)})

    @property
    def length(self):
        if self.bucket_size is not None:
            return self.bucket_size
        return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    def _transform(self, get):
        tensor = tf.convert_to_tensor_or_sparse_tensor(get(self.name))
        if not isinstance(tensor, tf.SparseTensor):
            tensor = _sparse_input(_of_rank(tensor, 2, self.name))
        return self._classes(tensor)

    def id_tensor(self, tensor):
        return tensor

    def weight_tensor(self, tensor):
        return None

    def _wide(self, tensor):
        return self.id_tensor(tensor), self.weight_tensor(tensor), self.length, self.combiner

    def is_compatible(self, other):
        if self.lookup_config and other.lookup_config:
            return self.lookup_config == other.lookup_config
        same = self.length == other.length and (self.dtype == other.dtype
                                                or self.dtype.is_integer and other.dtype.is_integer)
        if same:
            logging.warning("Column %s and %s may not have the same vocabulary.", self.name, other.name)
        return same


class _SparseColumnIntegerized(_SparseColumn):
    def _classes(self, tensor):
        return tf.SparseTensor(tensor.indices, tf.mod(tensor.values, self.bucket_size, name="mod"), tensor.dense_shape)


class _SparseColumnHashed(_SparseColumn):
    hash_keys = None

    def _classes(self, tensor):
        values = tf.as_string(tensor.values) if self.dtype.is_integer else tensor.values
        if not self.hash_keys:
            return tf.SparseTensor(tensor.indices, tf.string_to_hash_bucket_fast(values, self.bucket_size,
                                                                                 name="lookup"), tensor.dense_shape)
        parts = [tf.SparseTensor(tensor.indices, tf.string_to_hash_bucket_strong(values, self.bucket_size, key),
                                 tensor.dense_shape) for key in self.hash_keys]
        return tf.sparse_concat(axis=1, sp_inputs=parts, name="lookup")


class _SparseColumnKeys(_SparseColumn):
    def _classes(self, tensor):
        return tf.contrib.lookup.index_table_from_tensor(
            tuple(self.lookup_config.keys), default_value=self.lookup_config.default_value, dtype=self.dtype,
            name="lookup").lookup(tensor)


class _SparseColumnVocabulary(_SparseColumn):
    def _classes(self, tensor):
        if self.dtype.is_integer:
            tensor = tf.SparseTensor(tensor.indices, tf.as_string(tensor.values), tensor.dense_shape)
        config = self.lookup_config
        return tf.contrib.lookup.index_table_from_file(
            vocabulary_file=config.vocabulary_file, num_oov_buckets=config.num_oov_buckets, vocab_size=config.vocab_size,
            default_value=config.default_value, name=self.name + "_lookup").lookup(tensor)


class _WeightedSparseColumn(_FeatureColumn, _Categorical, collections.namedtuple("_WeightedSparseColumn", [
        "sparse_id_column", "weight_column_name", "dtype"])):
    name = property(lambda self: f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}")
    length = property(lambda self: self.sparse_id_column.length)
    lookup_config = property(lambda self: self.sparse_id_column.lookup_config)
    config = property(lambda self: {**self.sparse_id_column.config,
                                    self.weight_column_name: tf.VarLenFeature(self.dtype)})

    def _transform(self, get):
        weights = tf.convert_to_tensor_or_sparse_tensor(get(self.weight_column_name))
        if not isinstance(weights, tf.SparseTensor):
            weights = _sparse_input(_of_rank(weights, 2, self.name), ignore_value=0.0)
        if not self.dtype.is_floating:
            weights = tf.cast(weights, tf.float32)
        return get(self.sparse_id_column), weights

    def id_tensor(self, tensor):
        return tensor[0]

    def weight_tensor(self, tensor):
        return tensor[1]

    def _wide(self, tensor):
        return tensor[0], tensor[1], self.length, self.sparse_id_column.combiner

    def is_compatible(self, other):
        return self.sparse_id_column.is_compatible(getattr(other, "sparse_id_column", other))


class _OneHotColumn(_FeatureColumn, _Dense, collections.namedtuple("_OneHotColumn", ["sparse_id_column"])):
    name = property(lambda self: f"{self.sparse_id_column.name}_one_hot")
    _variable_shape = property(lambda self: tf.TensorShape([self.length]))
    length = property(lambda self: self.sparse_id_column.length)
    config = property(lambda self: self.sparse_id_column.config)

    def _transform(self, get):
        return get(self.sparse_id_column)

    def _deep(self, tensor, collections_, trainable, rank):
        ids = _inner_flatten(self.sparse_id_column.id_tensor(tensor), rank)
        weights = self.sparse_id_column.weight_tensor(tensor)
        if weights is not None:
            merged = tf.sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=self.length)
            merged = tf.sparse_slice(merged, tf.zeros_like(merged.dense_shape), merged.dense_shape)
            dense = tf.sparse_tensor_to_dense(merged)
            return tf.reshape(dense, tf.concat([tf.shape(dense)[:-1], [self.length]], axis=0))
        dense = tf.sparse_tensor_to_dense(ids, default_value=-1)
        return tf.reduce_sum(tf.one_hot(dense, depth=self.length, on_value=1.0, off_value=0.0), axis=[rank - 1])


class _EmbeddingColumn(_FeatureColumn, _Dense, collections.namedtuple("_EmbeddingColumn", [
        "sparse_id_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt",
        "shared_embedding_name", "shared_vocab_size", "max_norm", "trainable"])):
    def __new__(cls, sparse_id_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None,
                tensor_name_in_ckpt=None, shared_embedding_name=None, shared_vocab_size=None, max_norm=None,
                trainable=True):
        if initializer is not None and not callable(initializer):
            raise ValueError("initializer must be callable if specified. Embedding of column_name: "
                             f"{sparse_id_column.name}")
        if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
            raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
        if initializer is None:
            initializer = tf.truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(sparse_id_column.length))
        return super().__new__(cls, sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from,
                               tensor_name_in_ckpt, shared_embedding_name, shared_vocab_size, max_norm, trainable)

    key = property(lambda self: self._key_without("initializer"))
    config = property(lambda self: self.sparse_id_column.config)
    length = property(lambda self: self.shared_vocab_size or self.sparse_id_column.length)
    _variable_shape = property(lambda self: tf.TensorShape([self.dimension]))

    @property
    def name(self):
        shared = "" if self.shared_embedding_name is None else "_shared"
        return f"{self.sparse_id_column.name}{shared}_embedding"

    def _transform(self, get):
        return get(self.sparse_id_column)

    def _checkpoint(self):
        return None if self.ckpt_to_load_from is None else (self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def _variable(self, collections_, trainable):
        options = {"shape": [self.length, self.dimension], "dtype": tf.float32, "initializer": self.initializer,
                   "trainable": trainable and self.trainable, "collections": collections_}
        if self.shared_embedding_name is None:
            return model_variable("weights", **options)
        collection = "SHARED_EMBEDDING_COLLECTION_" + self.shared_embedding_name.upper()
        shared = tf.get_collection(collection)
        if not shared:
            variable = model_variable(self.shared_embedding_name, **options)
            tf.add_to_collection(collection, variable)
            return variable
        if shared[0].get_shape().as_list() != options["shape"]:
            raise ValueError(f"The embedding variable with name {self.shared_embedding_name} already exists, but its "
                             "shape does not match required embedding shape here. Please make sure to use different "
                             "shared_embedding_name for different shared embeddings.")
        return shared[0]

    def _deep(self, tensor, collections_, trainable, rank):
        ids = _inner_flatten(self.sparse_id_column.id_tensor(tensor), rank)
        weights = self.sparse_id_column.weight_tensor(tensor)
        variable = self._variable(collections_, trainable)
        _restore(self._checkpoint(), variable)
        return safe_embedding_lookup_sparse(variable, ids, None if weights is None else _inner_flatten(weights, rank),
                                            combiner=self.combiner, name=self.name + "weights", max_norm=self.max_norm)


class _RealValuedColumn(_FeatureColumn, _Dense, collections.namedtuple("_RealValuedColumn", [
        "column_name", "dimension", "default_value", "dtype", "normalizer"])):
    name = property(lambda self: self.column_name)
    key = property(lambda self: self._key_without("normalizer"))
    normalizer_fn = property(lambda self: self.normalizer)
    _variable_shape = property(lambda self: tf.TensorShape([self.dimension]))
    config = property(lambda self: {self.column_name: tf.FixedLenFeature(
        [self.dimension], self.dtype, None if self.default_value is None else list(self.default_value))})

    def _transform(self, get):
        tensor = tf.convert_to_tensor(get(self.name))
        return tf.cast(tensor if self.normalizer is None else self.normalizer(tensor), tf.float32)

    def _deep(self, tensor, collections_, trainable, rank):
        return _of_rank(tensor, rank, self.name)

    def _dense(self, tensor):
        return tensor


class _RealValuedVarLenColumn(_FeatureColumn, collections.namedtuple("_RealValuedVarLenColumn", [
        "column_name", "default_value", "dtype", "normalizer", "is_sparse"])):
    """As many numbers as each example has."""

    name = property(lambda self: self.column_name)
    key = property(lambda self: self._key_without("normalizer"))
    normalizer_fn = property(lambda self: self.normalizer)

    @property
    def config(self):
        if self.is_sparse:
            return {self.column_name: tf.VarLenFeature(self.dtype)}
        return {self.column_name: tf.FixedLenSequenceFeature([], self.dtype, allow_missing=True,
                                                             default_value=self.default_value)}

    def _transform(self, get):
        tensor = tf.convert_to_tensor_or_sparse_tensor(get(self.name))
        if self.normalizer is None:
            return tensor
        if isinstance(tensor, tf.SparseTensor):
            return tf.SparseTensor(tensor.indices, self.normalizer(tensor.values), tensor.dense_shape)
        return self.normalizer(tensor)

    def _deep(self, tensor, collections_, trainable, rank):
        return _of_rank(tf.cast(tensor, tf.float32), rank, self.name)

    def _dense(self, tensor):
        return tensor

    def _to_dense_tensor(self, input_tensor):
        """Numbers that are missing are the default."""
        if not self.is_sparse:
            return input_tensor
        if self.default_value is None:
            raise ValueError(f"Set is_sparse to False if you want a dense Tensor for column: {self.name}")
        return tf.sparse_tensor_to_dense(input_tensor, default_value=self.default_value)


class _BucketizedColumn(_FeatureColumn, _Dense, _Categorical, collections.namedtuple("_BucketizedColumn", ["source_column", "boundaries"])):
    def __new__(cls, source_column, boundaries):
        if not isinstance(source_column, _RealValuedColumn):
            raise TypeError(f"source_column must be an instance of _RealValuedColumn. source_column: {source_column}")
        if not isinstance(boundaries, (list, tuple)) or not boundaries:
            raise ValueError(f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}")
        if any(a > b for a, b in zip(boundaries, boundaries[1:])):
            raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
        return super().__new__(cls, source_column, tuple(sorted(set(boundaries))))

    name = property(lambda self: f"{self.source_column.name}_bucketized")
    length = property(lambda self: len(self.boundaries) + 1)
    _variable_shape = property(lambda self: tf.TensorShape([self.length * self.source_column.dimension]))
    _num_buckets = property(lambda self: self.length * self.source_column.dimension)

    def id_tensor(self, tensor):
        return self.to_sparse_tensor(tensor)

    def weight_tensor(self, tensor):
        return None

    config = property(lambda self: self.source_column.config)

    def _transform(self, get):
        return apply("Bucketize", (get(self.source_column),), {"boundaries": list(self.boundaries)}, "bucketize")

    def _deep(self, tensor, collections_, trainable, rank):
        if rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        one_hot = tf.one_hot(tf.cast(tensor, tf.int64), self.length, 1.0, 0.0, name="one_hot")
        return tf.reshape(one_hot, [-1, self.length * self.source_column.dimension], name="reshape")

    def to_sparse_tensor(self, tensor):
        size, dimension = tf.shape(tensor)[0], self.source_column.dimension
        rows = tf.reshape(tf.tile(tf.expand_dims(tf.range(0, size), 1), [1, dimension]), [-1])
        columns = tf.tile(tf.range(0, dimension), [size])
        buckets = tf.reshape(tensor, [-1]) + self.length * columns
        return tf.SparseTensor(tf.cast(tf.transpose(tf.stack((rows, columns))), tf.int64), buckets,
                               tf.cast(tf.stack([size, dimension]), tf.int64))

    def _wide(self, tensor):
        return self.to_sparse_tensor(tensor), None, self.length * self.source_column.dimension, "sum"


class _CrossedColumn(_FeatureColumn, _Categorical, collections.namedtuple("_CrossedColumn", [
        "columns", "hash_bucket_size", "hash_key", "combiner", "ckpt_to_load_from", "tensor_name_in_ckpt"])):
    def __new__(cls, columns, hash_bucket_size, hash_key, combiner="sum", ckpt_to_load_from=None,
                tensor_name_in_ckpt=None):
        for column in columns:
            if not isinstance(column, (_SparseColumn, _CrossedColumn, _BucketizedColumn)):
                raise TypeError("columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn instances. "
                                f"(column {column} is a {type(column).__name__})")
        if len(columns) < 2:
            raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
        if hash_bucket_size < 2:
            raise ValueError(f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}")
        return super().__new__(cls, tuple(sorted(columns, key=lambda column: column.name)), hash_bucket_size, hash_key,
                               combiner, ckpt_to_load_from, tensor_name_in_ckpt)

    name = property(lambda self: "_X_".join(sorted(column.name for column in self.columns)))
    length = property(lambda self: self.hash_bucket_size)

    @property
    def config(self):
        return {key: value for column in self.columns for key, value in column.config.items()}

    def _leaves(self):
        return [leaf for column in self.columns
                for leaf in (column._leaves() if isinstance(column, _CrossedColumn) else [column])]

    def _transform(self, get):
        tensors = [get(column.name) if isinstance(column, _SparseColumn) else column.to_sparse_tensor(get(column))
                   for column in self._leaves()]
        return tf.sparse.cross_hashed(tensors, self.hash_bucket_size,
                                      self.hash_key or SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY, name="cross")

    def id_tensor(self, tensor):
        return tensor

    def weight_tensor(self, tensor):
        return None

    def _checkpoint(self):
        return None if self.ckpt_to_load_from is None else (self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def _wide(self, tensor):
        return tensor, None, self.length, self.combiner


def _restore(checkpoint, variable):
    if checkpoint is not None:
        tf.train.init_from_checkpoint(checkpoint[0], {checkpoint[1]: variable})


def sparse_column_with_integerized_feature(column_name, bucket_size, combiner="sum", dtype=tf.int64):
    if bucket_size is None:
        raise ValueError(f"bucket_size must be set if is_integerized is True. column_name: {column_name}")
    return _SparseColumnIntegerized(column_name, True, bucket_size, combiner=combiner, dtype=dtype)


def sparse_column_with_hash_bucket(column_name, hash_bucket_size, combiner="sum", dtype=tf.string, hash_keys=None):
    column = _SparseColumnHashed(column_name, bucket_size=hash_bucket_size, combiner=combiner, dtype=dtype)
    if hash_keys is not None:
        if not isinstance(hash_keys, list) or not hash_keys:
            raise ValueError("hash_keys must be a non-empty list.")
        if not all(isinstance(pair, list) and len(pair) == 2 and all(isinstance(k, int) for k in pair)
                   for pair in hash_keys):
            raise ValueError("Each element of hash_keys must be a pair of integers.")
        column.hash_keys = hash_keys
    return column


def sparse_column_with_keys(column_name, keys, default_value=-1, combiner="sum", dtype=tf.string):
    keys = tuple(keys)
    return _SparseColumnKeys(column_name, lookup_config=_SparseIdLookupConfig(None, keys, 0, len(keys), default_value),
                             combiner=combiner, dtype=dtype)


def sparse_column_with_vocabulary_file(column_name, vocabulary_file, num_oov_buckets=0, vocab_size=None,
                                       default_value=-1, combiner="sum", dtype=tf.string):
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    config = _SparseIdLookupConfig(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return _SparseColumnVocabulary(column_name, lookup_config=config, combiner=combiner, dtype=dtype)


def weighted_sparse_column(sparse_id_column, weight_column_name, dtype=tf.float32):
    dtype = tf.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)


def one_hot_column(sparse_id_column):
    return _OneHotColumn(sparse_id_column)


def embedding_column(sparse_id_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None,
                     tensor_name_in_ckpt=None, max_norm=None, trainable=True):
    return _EmbeddingColumn(sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                            max_norm=max_norm, trainable=trainable)


def shared_embedding_columns(sparse_id_columns, dimension, combiner="mean", shared_embedding_name=None,
                             initializer=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None, max_norm=None,
                             trainable=True):
    if not isinstance(sparse_id_columns, (list, tuple)):
        raise TypeError("sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type "
                        f"{type(sparse_id_columns)}.")
    if not sparse_id_columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in sparse_id_columns:
        if not isinstance(column, (_SparseColumn, _WeightedSparseColumn)):
            raise TypeError("Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but "
                            f"{column} is not.")
    first, size = sparse_id_columns[0], None
    if len(sparse_id_columns) > 1:
        if not all(first.is_compatible(column) for column in sparse_id_columns[1:]):
            raise ValueError("The input sparse id columns are not compatible.")
        size = first.length
        if not shared_embedding_name:
            ordered = (sorted(column for column in sparse_id_columns if isinstance(column, _SparseColumn))
                       + sorted((column for column in sparse_id_columns if not isinstance(column, _SparseColumn)),
                                key=lambda column: column.name))
            shared_embedding_name = "_".join(column.name for column in ordered[:3])
            if len(ordered) > 3:
                shared_embedding_name += f"_plus_{len(ordered) - 3}_others"
            shared_embedding_name += "_shared_embedding"
    made = [_EmbeddingColumn(column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                             shared_embedding_name, size, max_norm, trainable) for column in sparse_id_columns]
    return made if len(made) == 1 else tuple(made)


def real_valued_column(column_name, dimension=1, default_value=None, dtype=tf.float32, normalizer=None):
    if dimension is None:
        raise TypeError("dimension must be an integer. Use the _real_valued_var_len_column for variable length features. "
                        f"dimension: None, column_name: {column_name}")
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, column_name: {column_name}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}")
    dtype = tf.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    if isinstance(default_value, (int, float)):
        default_value = (default_value,) * dimension
    elif default_value is not None:
        default_value = tuple(default_value)
        if len(default_value) != dimension:
            raise ValueError("The length of default_value must be equal to dimension. "
                             f"default_value: {default_value}, dimension: {dimension}, column_name: {column_name}")
    return _RealValuedColumn(column_name, dimension, default_value, dtype, normalizer)


def _real_valued_var_len_column(column_name, default_value=None, dtype=tf.float32, normalizer=None, is_sparse=False):
    """A column of as many numbers as each example has; not sparse, they are filled up with the default value."""
    dtype = tf.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    if default_value is None and not is_sparse:
        raise ValueError("default_value must be provided when is_sparse=False to parse a padded dense tensor. "
                         f"column_name: {column_name}")
    if isinstance(default_value, (list, tuple)):
        raise ValueError(f"Only scalar default value. default_value: {default_value}, column_name: {column_name}")
    if default_value is not None and not (isinstance(default_value, int) or dtype.is_floating
                                          and isinstance(default_value, float)):
        raise TypeError(f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}, "
                        f"column_name: {column_name}")
    if default_value is not None and dtype.is_floating:
        default_value = float(default_value)
    return _RealValuedVarLenColumn(column_name, default_value, dtype, normalizer, is_sparse)


def bucketized_column(source_column, boundaries):
    return _BucketizedColumn(source_column, boundaries)


def crossed_column(columns, hash_bucket_size, combiner="sum", ckpt_to_load_from=None, tensor_name_in_ckpt=None,
                   hash_key=None):
    return _CrossedColumn(columns, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt)


def create_feature_spec_for_parsing(feature_columns):
    """What parse_example needs to read the columns' features."""
    return {key: value for column in feature_columns for key, value in column.config.items()}


def make_place_holder_tensors_for_base_features(feature_columns):
    """Placeholders for the features of columns."""
    found = {}
    for name, spec in create_feature_spec_for_parsing(feature_columns).items():
        if isinstance(spec, tf.FixedLenFeature):
            found[name] = tf.placeholder(spec.dtype, [None, *spec.shape], name=f"Placeholder_{name}")
        else:
            found[name] = tf.sparse_placeholder(spec.dtype, name=f"Placeholder_{name}")
    return found
