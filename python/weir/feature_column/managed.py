"""Models of columns whose variables a state manager keeps: tensorflow.python.feature_column.feature_column_v2."""

import collections

import weir as tf
from weir.feature_column.base import (CategoricalColumn, DenseColumn, FeatureColumn, FeatureTransformationCache,
                                      SequenceDenseColumn, _checked_columns)
from weir.feature_column.dense import _checked_initializer, _looked_up, _OfClasses, shared_embedding_columns
from weir.feature_column.layers import _check_batch_sizes, _sorted
from weir.feature_column.serialization import deserialize_feature_columns, serialize_feature_columns


class StateManager:
    """Keeps the variables and resources of columns, by column and name."""

    def create_variable(self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True,
                        initializer=None):
        raise NotImplementedError("StateManager.create_variable")

    def add_variable(self, feature_column, var):
        raise NotImplementedError("StateManager.add_variable")

    def get_variable(self, feature_column, name):
        raise NotImplementedError("StateManager.get_var")

    def add_resource(self, feature_column, name, resource):
        raise NotImplementedError("StateManager.add_resource")

    def has_resource(self, feature_column, name):
        raise NotImplementedError("StateManager.has_resource")

    def get_resource(self, feature_column, name):
        raise NotImplementedError("StateManager.get_resource")


class _StateManagerImpl(StateManager):
    """The state of a layer's columns."""

    def __init__(self, layer, trainable):
        self._layer, self._trainable = layer, trainable
        self._variables, self._resources = collections.defaultdict(dict), collections.defaultdict(dict)

    def create_variable(self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True,
                        initializer=None):
        if name in self._variables[feature_column]:
            raise ValueError("Variable already exists.")
        variable = tf.get_variable(name, shape=shape, dtype=dtype, initializer=initializer,
                                   trainable=self._trainable and trainable, use_resource=use_resource)
        self._variables[feature_column][name] = variable
        return variable

    def get_variable(self, feature_column, name):
        if name not in self._variables[feature_column]:
            raise ValueError("Variable does not exist.")
        return self._variables[feature_column][name]

    def add_resource(self, feature_column, name, resource):
        self._resources[feature_column][name] = resource

    def has_resource(self, feature_column, name):
        return name in self._resources[feature_column]

    def get_resource(self, feature_column, name):
        if name not in self._resources[feature_column]:
            raise ValueError("Resource does not exist.")
        return self._resources[feature_column][name]


class _ColumnsLayer:
    """A layer of columns: the first call makes its variables, others share them."""

    _default_name = None

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        self._feature_columns = _sorted(_checked_columns(feature_columns))
        self.trainable, self._given_name, self._scope, self._weights = trainable, name, None, []
        self._state_manager = _StateManagerImpl(self, trainable)

    name = property(lambda self: self._given_name or (self._scope.name.split("/")[-1] if self._scope else self._default_name))
    variables = weights = property(lambda self: list(self._weights))
    built = property(lambda self: self._scope is not None)

    @property
    def trainable_variables(self):
        trained = {id(variable) for variable in tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)}
        return [variable for variable in self._weights if id(variable) in trained]

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self):
        trained = {id(variable) for variable in self.trainable_variables}
        return [variable for variable in self._weights if id(variable) not in trained]

    non_trainable_weights = non_trainable_variables

    def __call__(self, features, *args, **kwargs):
        if not isinstance(features, dict):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
        if self._scope is None:
            with tf.variable_scope(self._given_name, default_name=self._default_name, auxiliary_name_scope=False) as scope:
                self._scope = scope
                before = {id(variable) for variable in tf.global_variables()}
                self.build(None)
                self._weights = [variable for variable in tf.global_variables() if id(variable) not in before]
        with tf.name_scope(self.name):
            return self.call(features, *args, **kwargs)

    def build(self, _):
        for column in self._feature_columns:
            with tf.variable_scope(column.name, auxiliary_name_scope=False):
                column.create_state(self._state_manager)

    def get_config(self):
        return {"name": self.name, "trainable": self.trainable, "dtype": None,
                "feature_columns": serialize_feature_columns(self._feature_columns)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        options = {name: value for name, value in config.items() if name != "dtype"}
        return cls(**{**options, "feature_columns": deserialize_feature_columns(config["feature_columns"], custom_objects)})


class LinearModel(_ColumnsLayer):
    """Sums of the columns' weights, one sum for each unit, and a bias; all begin at zero."""

    _default_name = "linear_model"

    def __init__(self, feature_columns, units=1, sparse_combiner="sum", trainable=True, name=None, **kwargs):
        super().__init__(feature_columns, trainable, name, **kwargs)
        for column in self._feature_columns:
            if not isinstance(column, (DenseColumn, CategoricalColumn)):
                raise ValueError("Items of feature_columns must be either a DenseColumn or CategoricalColumn. Given: "
                                 f"{column}")
        self._units, self._sparse_combiner, self.bias = units, sparse_combiner, None

    def build(self, _):
        for column in self._feature_columns:
            with tf.variable_scope(column.name, auxiliary_name_scope=False):
                column.create_state(self._state_manager)
                count = column.num_buckets if isinstance(column, CategoricalColumn) \
                    else column.variable_shape.num_elements()
                self._state_manager.create_variable(column, "weights", (count, self._units), tf.float32, self.trainable,
                                                    initializer=tf.zeros_initializer())
        self.bias = tf.get_variable("bias_weights", [self._units], tf.float32, tf.zeros_initializer(),
                                    trainable=self.trainable, use_resource=True)

    def _weighted(self, column, cache):
        weights = self._state_manager.get_variable(column, "weights")
        if not isinstance(column, CategoricalColumn):
            tensor = column.get_dense_tensor(cache, self._state_manager)
            tensor = tf.reshape(tensor, (tf.shape(tensor)[0], column.variable_shape.num_elements()))
            return tf.matmul(tensor, weights, name="weighted_sum")
        ids, factors = column.get_sparse_tensors(cache, self._state_manager)
        ids, factors = (None if part is None else tf.sparse_reshape(part, [tf.shape(part)[0], -1]) for part in (ids, factors))
        return tf.nn.safe_embedding_lookup_sparse(weights, ids, sparse_weights=factors, combiner=self._sparse_combiner,
                                                  name="weighted_sum")

    def call(self, features):
        cache, sums = FeatureTransformationCache(features), []
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                sums.append(self._weighted(column, cache))
        _check_batch_sizes(sums, self._feature_columns)
        return tf.nn.bias_add(tf.add_n(sums, name="weighted_sum_no_bias"), self.bias, name="weighted_sum")

    def get_config(self):
        return {**super().get_config(), "units": self._units, "sparse_combiner": self._sparse_combiner}


_LinearModelLayer = LinearModel


class DenseFeatures(_ColumnsLayer):
    """tf.keras.layers.DenseFeatures, as graphs use it: [batch, all numbers of the columns]."""

    _default_name = "dense_features"

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(feature_columns, trainable, name, **kwargs)
        for column in self._feature_columns:
            if not isinstance(column, DenseColumn):
                raise ValueError("Items of feature_columns must be a DenseColumn. You can wrap a categorical column with an "
                                 f"embedding_column or indicator_column. Given: {column}")

    _is_feature_layer = True

    def compute_output_shape(self, input_shape):
        return input_shape[0], sum(column.variable_shape.num_elements() for column in self._feature_columns)

    def call(self, features, cols_to_output_tensors=None):
        cache, outputs = FeatureTransformationCache(features), []
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                tensor = column.get_dense_tensor(cache, self._state_manager)
                outputs.append(tf.reshape(tensor, (tf.shape(tensor)[0], column.variable_shape.num_elements())))
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = outputs[-1]
        _check_batch_sizes(outputs, self._feature_columns)
        return tf.concat(outputs, 1)


class SequenceFeatures(_ColumnsLayer):
    """([batch, longest, all numbers of the columns], lengths)"""

    _default_name = "sequence_features"

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(feature_columns, trainable, name, **kwargs)
        for column in self._feature_columns:
            if not isinstance(column, SequenceDenseColumn):
                raise ValueError(f"Items of feature_columns must be a {SequenceDenseColumn}. You can wrap a categorical column "
                                 f"with an embedding_column or indicator_column. Given: {column}")

    _is_feature_layer = True

    def compute_output_shape(self, input_shape):
        total = sum(column.variable_shape.num_elements() for column in self._feature_columns)
        return input_shape[0], input_shape[1], total

    def call(self, features):
        cache, outputs, lengths = FeatureTransformationCache(features), [], []
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                dense, length = column.get_sequence_dense_tensor(cache, self._state_manager)
                shape, elements = tf.shape(dense), column.variable_shape.num_elements()
                outputs.append(tf.reshape(dense, tf.concat([shape[:2], [elements]], 0)))
                outputs[-1].set_shape([None, None, elements])
                lengths.append(length)
        _check_batch_sizes(lengths, self._feature_columns)
        with tf.name_scope("assert_all_equal"):
            with tf.control_dependencies([tf.assert_equal(lengths[0], other) for other in lengths[1:]]):
                length = tf.identity(lengths[0])
        return tf.concat(outputs, -1), length


def make_parse_example_spec_v2(feature_columns):
    """What parse_example needs to read the features of all columns."""
    result = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"All feature_columns must be FeatureColumn instances. Given: {column}")
        for key, value in column.parse_example_spec.items():
            if key in result and value != result[key]:
                raise ValueError(f"feature_columns contain different parse_spec for key {key}. Given {value} and "
                                 f"{result[key]}")
            result[key] = value
    return result


def _transform_features_v2(features, feature_columns, state_manager):
    """The tensors of columns, by column."""
    columns, outputs = _checked_columns(feature_columns), {}
    with tf.name_scope(None, default_name="transform_features", values=list(features.values())):
        cache = FeatureTransformationCache(features)
        for column in columns:
            with tf.name_scope(None, default_name=column.name):
                outputs[column] = cache.get(column, state_manager)
    return outputs


class SharedEmbeddingColumnCreator:
    """Makes columns that share the vectors of their classes, a variable for each graph."""

    def __init__(self, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, num_buckets, trainable,
                 name="shared_embedding_column_creator"):
        self._dimension, self._initializer, self._num_buckets, self._trainable = (
            dimension, initializer, num_buckets, trainable)
        self.ckpt_to_load_from, self.tensor_name_in_ckpt = ckpt_to_load_from, tensor_name_in_ckpt
        self._name, self._weights = name, {}

    dimension = property(lambda self: self._dimension)

    def __call__(self, categorical_column, combiner, max_norm):
        return SharedEmbeddingColumn(categorical_column, self, combiner, max_norm)

    @property
    def embedding_weights(self):
        graph = tf.get_default_graph()
        if graph not in self._weights:
            self._weights[graph] = tf.get_variable(
                self._name, (self._num_buckets, self._dimension), tf.float32, self._initializer, trainable=self._trainable)
            if self.ckpt_to_load_from is not None:
                tf.train.init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: self._weights[graph]})
        return self._weights[graph]


class SharedEmbeddingColumn(_OfClasses, collections.namedtuple("SharedEmbeddingColumn", (
        "categorical_column", "shared_embedding_column_creator", "combiner", "max_norm"))):
    """A vector for each class; other columns have the same ones."""

    _kind = "embedding_column"
    ckpt_to_load_from = None  # the creator has restored the vectors
    name = property(lambda self: f"{self.categorical_column.name}_shared_embedding")
    _variable_shape = property(lambda self: tf.TensorShape([self.shared_embedding_column_creator.dimension]))

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.categorical_column, state_manager)

    def _managed(self, transformation_cache, state_manager):
        with tf.name_scope(None, default_name=self.name):
            ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
            return _looked_up(self, self.shared_embedding_column_creator.embedding_weights, ids, weights)

    def _dense(self, inputs, weight_collections, trainable):
        return self._managed(inputs, None)

    def _get_config(self):
        raise NotImplementedError()


def shared_embedding_columns_v2(categorical_columns, dimension, combiner="mean", initializer=None,
                                shared_embedding_collection_name=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None,
                                max_norm=None, trainable=True):
    """Embeddings of several columns with the same vectors."""
    initializer = _checked_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    # The same conditions as for those whose vectors a collection keeps.
    shared_embedding_columns(categorical_columns, dimension, combiner, initializer, shared_embedding_collection_name)
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    name = shared_embedding_collection_name or "_".join(column.name for column in ordered) + "_shared_embedding"
    creator = SharedEmbeddingColumnCreator(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                                           ordered[0].num_buckets, trainable, name)
    return [creator(column, combiner, max_norm) for column in categorical_columns]
