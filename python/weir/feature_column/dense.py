"""Columns that make numbers of classes: indicators and embeddings."""

import collections
import math

import weir as tf
from weir.feature_column.base import CategoricalColumn, DenseColumn, SequenceDenseColumn, _sequence_length
from weir.feature_column.categorical import SequenceCategoricalColumn, WeightedCategoricalColumn

_FIX_DENSE = ("Suggested fix A: If you wish to use input_layer, use a non-sequence categorical_column_with_*. Suggested fix "
              "B: If you wish to create sequence input, use sequence_input_layer instead of input_layer.")
_FIX_DENSE_V2 = ("Suggested fix A: If you wish to use DenseFeatures, use a non-sequence categorical_column_with_*. Suggested "
                 "fix B: If you wish to create sequence input, use SequenceFeatures instead of DenseFeatures.")
_FIX_SEQUENCE = "Suggested fix: Use one of sequence_categorical_column_with_*."


class _OfClasses(DenseColumn, SequenceDenseColumn):
    """A column of numbers that is made of a column of classes."""

    _parse_example_spec = property(lambda self: self.categorical_column._parse_example_spec)

    def _check_kind(self, sequence, fix):
        column = self.categorical_column
        if isinstance(column, SequenceCategoricalColumn) != sequence:
            what = ("must be of type _SequenceCategoricalColumn to use sequence_input_layer" if sequence
                    else "must not be of type _SequenceCategoricalColumn")
            raise ValueError(f"In {self._kind}: {self.name}. categorical_column {what}. {fix} Given (type "
                             f"{type(column)}): {column}")

    def _check_kind_v2(self, sequence):
        column = self.categorical_column
        if isinstance(column, SequenceCategoricalColumn) != sequence:
            what, fix = ("must be of type SequenceCategoricalColumn to use SequenceFeatures", _FIX_SEQUENCE) if sequence \
                else ("must not be of type SequenceCategoricalColumn", _FIX_DENSE_V2)
            raise ValueError(f"In {self._kind}: {self.name}. categorical_column {what}. {fix} Given (type "
                             f"{type(column)}): {column}")

    def get_dense_tensor(self, transformation_cache, state_manager):
        self._check_kind_v2(False)
        return self._managed(transformation_cache, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        self._check_kind_v2(True)
        dense = self._managed(transformation_cache, state_manager)
        ids = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager).id_tensor
        return self.TensorSequenceLengthPair(dense, _sequence_length(ids))

    def _managed(self, transformation_cache, state_manager):
        return self._dense(transformation_cache, None, None)

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        self._check_kind(False, _FIX_DENSE)
        return self._dense(inputs, weight_collections, trainable)

    def _get_sequence_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        self._check_kind(True, _FIX_SEQUENCE)
        dense = self._dense(inputs, weight_collections, trainable)
        ids = self.categorical_column._get_sparse_tensors(inputs).id_tensor
        return self.TensorSequenceLengthPair(dense, _sequence_length(ids))


class IndicatorColumn(_OfClasses, collections.namedtuple("IndicatorColumn", ("categorical_column",))):
    """How often each class stands in an example."""

    _kind = "indicator_column"
    name = property(lambda self: f"{self.categorical_column.name}_indicator")
    _variable_shape = property(lambda self: tf.TensorShape([1, self.categorical_column._num_buckets]))

    def _transform_feature(self, inputs):
        ids, weights = self.categorical_column._get_sparse_tensors(inputs)
        count = self.categorical_column._num_buckets
        if weights is not None:
            merged = tf.sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=count)
            # Classes that the vocabulary does not know have the number -1.
            merged = tf.sparse_slice(merged, [0, 0], merged.dense_shape)
            return tf.scatter_nd(merged.indices, merged.values, merged.dense_shape)
        dense_ids = tf.sparse_tensor_to_dense(ids, default_value=-1)
        return tf.reduce_sum(tf.one_hot(dense_ids, depth=count, on_value=1.0, off_value=0.0), axis=[-2])

    def _dense(self, inputs, weight_collections, trainable):
        return inputs.get(self)


class EmbeddingColumn(_OfClasses, collections.namedtuple("EmbeddingColumn", (
        "categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt",
        "max_norm", "trainable"))):
    """A vector for each class, learned."""

    _kind = "embedding_column"
    name = property(lambda self: f"{self.categorical_column.name}_embedding")
    _variable_shape = property(lambda self: tf.TensorShape([self.dimension]))

    def _transform_feature(self, inputs):
        return inputs.get(self.categorical_column)

    def _weights(self, weight_collections, trainable):
        return tf.get_variable(
            "embedding_weights", shape=(self.categorical_column._num_buckets, self.dimension), dtype=tf.float32,
            initializer=self.initializer, trainable=self.trainable and trainable in (None, True),
            collections=weight_collections)

    def _dense(self, inputs, weight_collections, trainable):
        ids, weights = self.categorical_column._get_sparse_tensors(inputs)
        return _looked_up(self, self._weights(weight_collections, trainable), ids, weights)

    def create_state(self, state_manager):
        state_manager.create_variable(
            self, name="embedding_weights", shape=(self.categorical_column.num_buckets, self.dimension), dtype=tf.float32,
            trainable=self.trainable, use_resource=True, initializer=self.initializer)

    def _managed(self, transformation_cache, state_manager):
        if state_manager is None:
            return self._dense(transformation_cache, None, None)
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return _looked_up(self, state_manager.get_variable(self, name="embedding_weights"), ids, weights)


class SharedEmbeddingColumn(_OfClasses, collections.namedtuple("SharedEmbeddingColumn", (
        "categorical_column", "dimension", "combiner", "initializer", "shared_embedding_collection_name",
        "ckpt_to_load_from", "tensor_name_in_ckpt", "max_norm", "trainable"))):
    """An embedding whose variable several columns share, by a collection."""

    _kind = "embedding_column"
    name = property(lambda self: f"{self.categorical_column.name}_shared_embedding")
    _var_scope_name = property(lambda self: self.shared_embedding_collection_name)
    _variable_shape = property(lambda self: tf.TensorShape([self.dimension]))

    def _transform_feature(self, inputs):
        return inputs.get(self.categorical_column)

    def _weights(self, weight_collections, trainable):
        collection, shape = self.shared_embedding_collection_name, (self.categorical_column._num_buckets, self.dimension)
        fix = ("Suggested fix A: Choose a unique name for this collection. Suggested fix B: Do not add any variables to "
               "this collection. The feature_column library already adds a variable under the hood.")
        shared = tf.get_collection(collection)
        if len(shared) > 1:
            raise ValueError(f"Collection {shared} can only contain one variable. {fix}")
        if shared:
            if shared[0].get_shape() != tf.TensorShape(shape):
                raise ValueError(f"Shared embedding collection {collection} contains variable {shared[0].name} of "
                                 f"unexpected shape {shared[0].get_shape()}. Expected shape is {shape}. {fix}")
            return shared[0]
        weights = tf.get_variable("embedding_weights", shape=shape, dtype=tf.float32, initializer=self.initializer,
                                  trainable=self.trainable and trainable in (None, True),
                                  collections=weight_collections)
        tf.add_to_collection(collection, weights)
        return weights

    def _managed(self, transformation_cache, state_manager):
        with tf.variable_scope(None, default_name=self._var_scope_name):
            return self._dense(transformation_cache, None, None)

    def _dense(self, inputs, weight_collections, trainable):
        with tf.name_scope(None, default_name=self.name):
            ids, weights = self.categorical_column._get_sparse_tensors(inputs)
            return _looked_up(self, self._weights(weight_collections, trainable), ids, weights)


def _looked_up(column, embedding_weights, ids, weights):
    if column.ckpt_to_load_from is not None:
        tf.train.init_from_checkpoint(column.ckpt_to_load_from, {column.tensor_name_in_ckpt: embedding_weights})
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights=embedding_weights, sparse_ids=ids, sparse_weights=weights, combiner=column.combiner,
        name=f"{column.name}_weights", max_norm=column.max_norm)


def indicator_column(categorical_column):
    return IndicatorColumn(categorical_column)


def _checked_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, where=""):
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is None:
        return tf.truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(dimension))
    if not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{where}")
    return initializer


def embedding_column(categorical_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None,
                     tensor_name_in_ckpt=None, max_norm=None, trainable=True):
    """A vector of ``dimension`` numbers for each class; those of an example are combined."""
    initializer = _checked_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                                       f" Embedding of column_name: {categorical_column.name}")
    return EmbeddingColumn(categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                           max_norm, trainable)


def shared_embedding_columns(categorical_columns, dimension, combiner="mean", initializer=None,
                             shared_embedding_collection_name=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None,
                             max_norm=None, trainable=True):
    """Embeddings of several columns with the same vectors."""
    initializer = _checked_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    first = ordered[0]
    if not isinstance(first, CategoricalColumn):
        raise ValueError("All categorical_columns must be subclasses of _CategoricalColumn. Given: "
                         f"{first}, of type: {type(first)}")

    def inner(column):
        return column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column

    for column in ordered[1:]:
        if not isinstance(inner(column), type(inner(first))):
            raise ValueError("To use shared_embedding_column, all categorical_columns must have the same type, or be "
                             f"weighted_categorical_column of the same type. Given column: {inner(first)} of type: "
                             f"{type(inner(first))} does not match given column: {inner(column)} of type: "
                             f"{type(inner(column))}")
        if first._num_buckets != column._num_buckets:
            raise ValueError("To use shared_embedding_column, all categorical_columns must have the same number of "
                             f"buckets. Given column: {inner(first)} with buckets: {first._num_buckets} does  not match "
                             f"column: {inner(column)} with buckets: {column._num_buckets}")
    if not shared_embedding_collection_name:
        shared_embedding_collection_name = "_".join(column.name for column in ordered) + "_shared_embedding"
    return [SharedEmbeddingColumn(column, dimension, combiner, initializer, shared_embedding_collection_name,
                                  ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable)
            for column in categorical_columns]
