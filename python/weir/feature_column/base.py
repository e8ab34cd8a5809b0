"""What all columns have, and the features as columns ask for them: each is worked out once."""

import abc
import collections

import weir as tf
from weir import names
from weir.feature_column import serialization


class FeatureColumn(metaclass=abc.ABCMeta):
    """A column: how raw features become its tensor.

    A class of columns defines each of its methods by one of two names: with an underscore as until TensorFlow 1.12, or
    without it as since then, where a ``state_manager`` keeps variables. The other name calls it.
    """

    def __init_subclass__(cls):
        if cls.__module__.startswith(__package__ + "."):
            serialization.add_class(cls)

    @property
    @abc.abstractmethod
    def name(self):
        """Unique among the columns of a model; variables are named after it."""

    def __lt__(self, other):
        return str(self) < str(other)

    def __gt__(self, other):
        return str(self) > str(other)

    @property
    def _var_scope_name(self):
        return self.name

    def _transform_feature(self, inputs):
        """The column's tensor; ``inputs.get(key)`` gives features and other columns."""
        return self.transform_feature(inputs, None)

    def transform_feature(self, transformation_cache, state_manager):
        return self._transform_feature(transformation_cache)

    @property
    def _parse_example_spec(self):
        """What parse_example needs to read the column's features."""
        return self.parse_example_spec

    parse_example_spec = property(lambda self: self._parse_example_spec)
    _is_v2_column = property(lambda self: True)

    def create_state(self, state_manager):
        """Makes the column's variables, in a state manager."""

    @property
    def parents(self):
        """The columns and the names of features that it is made of."""
        columns = [getattr(self, field) for field in ("source_column", "categorical_column") if hasattr(self, field)]
        if hasattr(self, "keys"):
            columns += list(self.keys)
        if hasattr(self, "weight_feature_key"):
            columns.append(self.weight_feature_key)
        return columns or [self.key]

    def _get_config(self):
        """The fields as what JSON can hold."""
        return {field: serialization.described(value) for field, value in zip(self._fields, self)}

    @classmethod
    def _from_config(cls, config, custom_objects=None, columns_by_name=None):
        """The column that ``_get_config`` described."""
        missing = [field for field in cls._fields if field not in config]
        if missing:
            raise ValueError(f"Invalid config for {cls.__name__}: it lacks {missing}")
        return cls(**{field: serialization.field(field, value, custom_objects, columns_by_name)
                      for field, value in config.items()})

    get_config = _get_config
    from_config = _from_config

    def _reset_config(self):
        """Nothing is kept between graphs."""


serialization.add_class(FeatureColumn)


class DenseColumn(FeatureColumn):
    """A column that is numbers."""

    @property
    def _variable_shape(self):
        """The shape of an example's numbers."""
        return self.variable_shape

    variable_shape = property(lambda self: self._variable_shape)

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        """A tensor [batch, *variable_shape]."""
        return self.get_dense_tensor(inputs, None)

    def get_dense_tensor(self, transformation_cache, state_manager):
        return self._get_dense_tensor(transformation_cache)


_IdWeightPair = collections.namedtuple("IdWeightPair", ("id_tensor", "weight_tensor"))


class CategoricalColumn(FeatureColumn):
    """A column that is classes."""

    IdWeightPair = _IdWeightPair

    @property
    def _num_buckets(self):
        """The number of classes."""
        return self.num_buckets

    num_buckets = property(lambda self: self._num_buckets)

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        """The classes of each example, sparse, with their weights or None."""
        return self.get_sparse_tensors(inputs, None)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return self._get_sparse_tensors(transformation_cache)


class _Stand(FeatureColumn):
    """A class of columns by the name that it had until TensorFlow 1.12, or has since: a program may derive from both."""

    @classmethod
    def __subclasshook__(cls, other):
        return cls.__base__ in other.__mro__ if "_is_stand" in cls.__dict__ else NotImplemented


class DenseColumnV1(DenseColumn, _Stand):
    _is_stand = True


class DenseColumnV2(DenseColumn, _Stand):
    _is_stand = True


class CategoricalColumnV1(CategoricalColumn, _Stand):
    _is_stand = True


class CategoricalColumnV2(CategoricalColumn, _Stand):
    _is_stand = True


_TensorSequenceLengthPair = collections.namedtuple("TensorSequenceLengthPair", ("dense_tensor", "sequence_length"))


class SequenceDenseColumn(FeatureColumn):
    """A column that is sequences of numbers."""

    TensorSequenceLengthPair = _TensorSequenceLengthPair

    def _get_sequence_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        """A tensor [batch, longest, *variable_shape] and the lengths."""
        return self.get_sequence_dense_tensor(inputs, None)

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        return self._get_sequence_dense_tensor(transformation_cache)


class FeatureTransformationCache:
    """Features by name and the tensors of columns, each made when it is first asked for."""

    def __init__(self, features):
        self._features, self._tensors = features.copy(), {}

    def get(self, key, state_manager=None):
        if key in self._tensors:
            return self._tensors[key]
        if key in self._features:
            tensor = self._raw_feature(key)
        elif isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        elif not isinstance(key, FeatureColumn):
            raise TypeError(f'"key" must be either a "str" or "_FeatureColumn". Provided: {key}')
        else:
            tensor = key.transform_feature(self, state_manager)
            if tensor is None:
                raise ValueError(f"Column {key.name} is not supported.")
        self._tensors[key] = tensor
        return tensor

    def _raw_feature(self, key):
        """A feature of at least two dimensions."""
        feature = tf.convert_to_tensor_or_sparse_tensor(self._features[key])

        def expanded():
            if isinstance(feature, tf.SparseTensor):
                return tf.sparse_reshape(feature, [tf.shape(feature)[0], 1])
            return tf.expand_dims(feature, -1)

        rank = feature.get_shape().ndims
        if rank is None:
            message = f"Feature (key: {key}) cannot have rank 0. Given: {feature}"
            with tf.control_dependencies([tf.assert_positive(tf.rank(feature), message=message)]):
                return tf.cond(tf.equal(1, tf.rank(feature)), expanded, lambda: feature)
        if rank == 0:
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {feature}")
        return expanded() if rank == 1 else feature


def _sparse_input(tensor, ignore_value=None):
    """A sparse tensor of what is not missing: empty texts and -1 are."""
    tensor = tf.convert_to_tensor_or_sparse_tensor(tensor)
    if isinstance(tensor, tf.SparseTensor):
        return tensor
    with tf.name_scope(None, "to_sparse_input", (tensor, ignore_value)):
        if ignore_value is None:
            if tensor.dtype == tf.string:
                ignore_value = ""
            else:
                ignore_value = -1 if tensor.dtype.is_integer else tensor.dtype.as_numpy_dtype()
        ignore_value = tf.cast(ignore_value, tensor.dtype, name="ignore_value")
        indices = tf.where(tf.not_equal(tensor, ignore_value), name="indices")
        return tf.SparseTensor(indices=indices, values=tf.gather_nd(tensor, indices, name="values"),
                               dense_shape=tf.shape(tensor, out_type=tf.int64, name="dense_shape"))


def _checked_columns(feature_columns):
    """A list of columns with different names."""
    if isinstance(feature_columns, FeatureColumn):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    feature_columns = list(feature_columns)
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"Items of feature_columns must be a _FeatureColumn. Given (type {type(column)}): {column}.")
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    by_name = {}
    for column in feature_columns:
        if column.name in by_name:
            raise ValueError(f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}. "
                             "This usually means that these columns refer to same base feature. Either one must be "
                             "discarded or a duplicated but renamed item must be inserted in features dict.")
        by_name[column.name] = column
    return feature_columns


def _check_string_key(key):
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def _check_string_or_int(dtype, prefix):
    if dtype != tf.string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def _sequence_length(sparse, num_elements=1):
    """How long each sequence of a sparse tensor is."""
    with tf.name_scope(None, "sequence_length") as scope:
        rows, columns = sparse.indices[:, 0], sparse.indices[:, 1]
        columns += tf.ones_like(columns)
        lengths = tf.segment_max(columns, segment_ids=rows)
        lengths = tf.cast(tf.ceil(lengths / num_elements), tf.int64)
        missing = tf.shape(sparse)[:1] - tf.shape(lengths)[:1]
        return tf.concat([lengths, tf.zeros(missing, dtype=lengths.dtype)], axis=0, name=scope)
