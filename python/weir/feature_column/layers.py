"""The input of a model, made of columns: one tensor, a linear model, or sequences."""

import collections

import weir as tf
from weir.feature_column.base import (CategoricalColumn, DenseColumn, FeatureColumn, FeatureTransformationCache,
                                      SequenceDenseColumn, _checked_columns, _sequence_length)
from weir.feature_column.numeric import _checked_shape


def _collections(weight_collections):
    found = list(weight_collections or [])
    for name in (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES):
        if name not in found:
            found.append(name)
    return found


def _check_batch_sizes(tensors, columns):
    expected = None
    for i, tensor in enumerate(tensors):
        size = tensor.get_shape()[0].value if tensor.get_shape().ndims else None
        if size is None:
            continue
        if expected is None:
            expected, first = size, i
        elif size != expected:
            raise ValueError("Batch size (first dimension) of each feature must be same. Batch size of columns "
                             f"({columns[first].name}, {columns[i].name}): ({expected}, {size})")


def _sorted(columns):
    return sorted(columns, key=lambda column: column.name)


def _input_tensor(features, columns, weight_collections, trainable, cols_to_vars=None, cols_to_output_tensors=None):
    columns, cache, outputs = _sorted(columns), FeatureTransformationCache(features), []
    for column in columns:
        with tf.variable_scope(None, default_name=column._var_scope_name) as scope:
            tensor = column._get_dense_tensor(cache, weight_collections=weight_collections, trainable=trainable)
            output = tf.reshape(tensor, shape=(tf.shape(tensor)[0], column._variable_shape.num_elements()))
            outputs.append(output)
            if cols_to_vars is not None:
                cols_to_vars[column] = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=scope.name)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = output
    _check_batch_sizes(outputs, columns)
    return tf.concat(outputs, 1)


def _dense_columns(feature_columns):
    columns = _checked_columns(feature_columns)
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError("Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an "
                             f"embedding_column or indicator_column. Given: {column}")
    return columns


def input_layer(features, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None,
                cols_to_output_tensors=None):
    """A tensor [batch, all numbers of the columns], columns in the order of their names."""
    columns = _dense_columns(feature_columns)
    with tf.variable_scope(None, default_name="input_layer", values=list(features.values())):
        return _input_tensor(features, columns, _collections(weight_collections), trainable, cols_to_vars,
                             cols_to_output_tensors)


class InputLayer:
    """The same as an object: its variables are made by the first call and shared by the others."""

    def __init__(self, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None,
                 name="feature_column_input_layer", create_scope_now=True):
        self._columns, self._name = _dense_columns(feature_columns), name
        self._weight_collections, self._trainable = weight_collections, trainable
        self._template = tf.make_template(name, self._build, create_scope_now_=create_scope_now)

    def _build(self, features):
        return _input_tensor(features, self._columns, _collections(self._weight_collections), self._trainable)

    def __call__(self, features):
        return self._template(features)

    name = property(lambda self: self._name)
    variables = weights = property(lambda self: self._template.variables)
    trainable_variables = trainable_weights = property(lambda self: self._template.trainable_variables)
    non_trainable_variables = property(lambda self: self._template.non_trainable_variables)


def _weighted_sum(column, cache, units, combiner, collections_, trainable):
    """What a column adds to a linear model."""
    categorical = isinstance(column, CategoricalColumn)
    count = column._num_buckets if categorical else column._variable_shape.num_elements()
    weights = tf.get_variable("weights", shape=(count, units), initializer=tf.zeros_initializer(), trainable=trainable,
                              collections=collections_)
    if not categorical:
        tensor = column._get_dense_tensor(cache, weight_collections=collections_, trainable=trainable)
        tensor = tf.reshape(tensor, shape=(tf.shape(tensor)[0], count))
        return tf.matmul(tensor, weights, name="weighted_sum")
    ids, id_weights = column._get_sparse_tensors(cache, weight_collections=collections_, trainable=trainable)
    ids = tf.sparse_reshape(ids, [tf.shape(ids)[0], -1])
    if id_weights is not None:
        id_weights = tf.sparse_reshape(id_weights, [tf.shape(id_weights)[0], -1])
    return tf.nn.safe_embedding_lookup_sparse(weights, ids, sparse_weights=id_weights, combiner=combiner,
                                              name="weighted_sum")


class LinearModel:
    """A linear model of columns; ``cols_to_vars()`` says which variables belong to which."""

    def __init__(self, feature_columns, units=1, sparse_combiner="sum", weight_collections=None, trainable=True,
                 name="linear_model"):
        self._columns = _checked_columns(feature_columns)
        for column in self._columns:
            if not isinstance(column, (DenseColumn, CategoricalColumn)):
                raise ValueError("Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. Given: "
                                 f"{column}")
        self._units, self._combiner, self._trainable, self.name = units, sparse_combiner, trainable, name
        self._collections, self._cols_to_vars = _collections(weight_collections), {}
        self.bias = None

    def cols_to_vars(self):
        return self._cols_to_vars

    def __call__(self, features):
        with tf.variable_scope(self.name):
            cache, columns, sums = FeatureTransformationCache(features), _sorted(self._columns), []
            for column in columns:
                with tf.variable_scope(None, default_name=column._var_scope_name) as scope:
                    sums.append(_weighted_sum(column, cache, self._units, self._combiner, self._collections,
                                              self._trainable))
                    self._cols_to_vars[column] = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES,
                                                                   scope=scope.name + "/")
            _check_batch_sizes(sums, columns)
            total = tf.add_n(sums, name="weighted_sum_no_bias")
            self.bias = tf.get_variable("bias_weights", shape=[self._units], initializer=tf.zeros_initializer(),
                                        trainable=self._trainable, collections=self._collections)
            variables = self.bias if hasattr(self.bias, "__iter__") and not isinstance(self.bias, tf.Variable) else [
                self.bias]
            self._cols_to_vars["bias"] = list(variables)
            return tf.nn.bias_add(total, self.bias, name="weighted_sum")


def linear_model(features, feature_columns, units=1, sparse_combiner="sum", weight_collections=None, trainable=True,
                 cols_to_vars=None):
    """Sums of the columns' weights, one sum for each unit, and a bias; all begin at zero."""
    with tf.variable_scope(None, "linear_model") as scope:
        name = scope.name.rsplit("/", 1)[-1]
    model = LinearModel(feature_columns, units, sparse_combiner, weight_collections, trainable, name)
    result = model(features)
    if cols_to_vars is not None:
        cols_to_vars.update(model.cols_to_vars())
    return result


def make_parse_example_spec(feature_columns):
    """What parse_example needs to read the features of all columns."""
    result = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"All feature_columns must be _FeatureColumn instances. Given: {column}")
        for key, value in column._parse_example_spec.items():
            if key in result and value != result[key]:
                raise ValueError(f"feature_columns contain different parse_spec for key {key}. Given {value} and "
                                 f"{result[key]}")
            result[key] = value
    return result


def _transform_features(features, feature_columns):
    """The tensors of columns, by column."""
    columns, outputs = _checked_columns(feature_columns), {}
    with tf.name_scope(None, default_name="transform_features", values=list(features.values())):
        cache = FeatureTransformationCache(features)
        for column in _sorted(columns):
            with tf.name_scope(None, default_name=column.name):
                outputs[column] = cache.get(column)
    return outputs


class SequenceNumericColumn(SequenceDenseColumn, collections.namedtuple("SequenceNumericColumn", (
        "key", "shape", "default_value", "dtype", "normalizer_fn"))):
    name = property(lambda self: self.key)
    _parse_example_spec = property(lambda self: {self.key: tf.VarLenFeature(self.dtype)})
    _variable_shape = property(lambda self: tf.TensorShape(self.shape))
    variable_shape = _variable_shape

    def _transform_feature(self, inputs):
        tensor = inputs.get(self.key)
        return tensor if self.normalizer_fn is None else self.normalizer_fn(tensor)

    def _get_sequence_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        sparse = inputs.get(self)
        dense = tf.sparse_tensor_to_dense(sparse, default_value=self.default_value)
        shape = tf.concat([tf.shape(dense)[:1], [-1], self._variable_shape.as_list()], axis=0)
        elements = self._variable_shape.num_elements() if sparse.get_shape().ndims == 2 else 1
        return self.TensorSequenceLengthPair(tf.reshape(dense, shape), _sequence_length(sparse, elements))


def sequence_numeric_column(key, shape=(1,), default_value=0.0, dtype=tf.float32, normalizer_fn=None):
    """A column of sequences of numbers."""
    shape, dtype = _checked_shape(shape, key), tf.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return SequenceNumericColumn(key, shape=shape, default_value=default_value, dtype=dtype, normalizer_fn=normalizer_fn)


def sequence_input_layer(features, feature_columns, weight_collections=None, trainable=True):
    """([batch, longest, all numbers of the columns], lengths)"""
    columns = _checked_columns(feature_columns)
    for column in columns:
        if not isinstance(column, SequenceDenseColumn):
            raise ValueError("All feature_columns must be of type _SequenceDenseColumn. You can wrap a "
                             f"sequence_categorical_column with an embedding_column or indicator_column. Given (type "
                             f"{type(column)}): {column}")
    with tf.variable_scope(None, default_name="sequence_input_layer", values=list(features.values())):
        cache, outputs, lengths = FeatureTransformationCache(features), [], []
        for column in _sorted(columns):
            with tf.variable_scope(None, default_name=column._var_scope_name):
                dense, length = column._get_sequence_dense_tensor(cache, weight_collections=_collections(
                    weight_collections), trainable=trainable)
                shape = tf.shape(dense)
                elements = column._variable_shape.num_elements()
                outputs.append(tf.reshape(dense, tf.concat([shape[:2], [elements]], 0)))
                outputs[-1].set_shape([None, None, elements])
                lengths.append(length)
        _check_batch_sizes(lengths, _sorted(columns))
        with tf.name_scope(None, "assert_all_equal", lengths):
            if len(lengths) > 1:
                with tf.control_dependencies([tf.assert_equal(lengths[0], other) for other in lengths[1:]]):
                    lengths = [tf.identity(lengths[0])]
        return tf.concat(outputs, -1), lengths[0]


def concatenate_context_input(context_input, sequence_input):
    """Each step of sequences [batch, time, n], followed by what the example says as a whole [batch, m]."""
    for tensor, what in ((sequence_input, "sequence_input"), (context_input, "context_input")):
        if tf.convert_to_tensor(tensor).dtype != tf.float32:
            raise TypeError(f"{what} must have dtype float32 type. Given: {tf.convert_to_tensor(tensor).dtype}")
    checks = [tf.assert_rank(sequence_input, 3, message="sequence_input must have rank 3"),
              tf.assert_rank(context_input, 2, message="context_input must have rank 2")]
    with tf.control_dependencies(checks):
        steps = tf.shape(sequence_input)[1]
        context = tf.tile(tf.expand_dims(context_input, 1), tf.concat([[1], [steps], [1]], 0))
    return tf.concat([sequence_input, context], 2)
