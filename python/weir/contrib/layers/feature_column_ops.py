"""The inputs of models, made of tf.contrib.layers' columns."""

import weir as tf
from weir import logging
from weir.contrib.framework.variables import model_variable
from weir.contrib.layers import feature_column as fc
from weir.contrib.layers.embedding_ops import safe_embedding_lookup_sparse


def check_feature_columns(feature_columns):
    """Raises when two columns are the same but for a function in them."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(f"Duplicate feature column key found for column: {column.name}. This usually means that the "
                             "column is almost identical to another column, and one must be discarded.")
        seen.add(column.key)


def _ordered(feature_columns):
    return sorted(set(feature_columns), key=lambda column: column.key)


def _with_globals(weight_collections):
    return list({*weight_collections, tf.GraphKeys.GLOBAL_VARIABLES}) if weight_collections else weight_collections


def _input(columns_to_tensors, feature_columns, weight_collections, trainable, scope, rank, name, cols_to_outs=None):
    check_feature_columns(feature_columns)
    columns_to_tensors = dict(columns_to_tensors)
    values = list(columns_to_tensors.values())
    with tf.variable_scope(scope, default_name=name, values=values):
        outputs, transformer = [], fc._Transformer(columns_to_tensors)
        collections = _with_globals(weight_collections)
        for column in _ordered(feature_columns):
            with tf.variable_scope(None, default_name=column.name, values=values):
                tensor = transformer.transform(column)
                try:
                    outputs.append(column._deep(tensor, collections, trainable, rank))
                except ValueError as error:
                    raise ValueError(f"Error creating input layer for column: {column.name}.\n{error}") from None
                if cols_to_outs is not None:
                    cols_to_outs[column] = outputs[-1]
        return tf.concat(outputs, rank - 1)


def input_from_feature_columns(columns_to_tensors, feature_columns, weight_collections=None, trainable=True, scope=None,
                               cols_to_outs=None):
    """A tensor [batch, all numbers of the columns]."""
    return _input(columns_to_tensors, feature_columns, weight_collections, trainable, scope, 2,
                  "input_from_feature_columns", cols_to_outs)


def sequence_input_from_feature_columns(columns_to_tensors, feature_columns, weight_collections=None, trainable=True,
                                        scope=None):
    """A tensor [batch, time, all numbers of the columns]."""
    for column in feature_columns:
        if not isinstance(column, (fc._OneHotColumn, fc._EmbeddingColumn, fc._RealValuedColumn)):
            raise ValueError(f"FeatureColumn type {type(column).__name__} is not currently supported for sequence data.")
    return _input(columns_to_tensors, feature_columns, weight_collections, trainable, scope, 3,
                  "sequence_input_from_feature_columns")


def _bias(num_outputs, trainable, weight_collections):
    return model_variable("bias_weight", shape=[num_outputs], initializer=tf.zeros_initializer(), trainable=trainable,
                          collections=_with_globals(weight_collections))


def weighted_sum_from_feature_columns(columns_to_tensors, feature_columns, num_outputs, weight_collections=None,
                                      trainable=True, scope=None):
    """(sums of the columns' weights and a bias, {column: its variables}, the bias)"""
    check_feature_columns(feature_columns)
    columns_to_tensors = dict(columns_to_tensors)
    values = list(columns_to_tensors.values())
    with tf.variable_scope(scope, default_name="weighted_sum_from_feature_columns", values=values):
        outputs, variables, transformer = [], {}, fc._Transformer(columns_to_tensors)
        for column in _ordered(feature_columns):
            tensor = transformer.transform(column)
            wide = column._wide(tensor)
            with tf.variable_scope(None, default_name=column.name, values=values):
                options = {"initializer": tf.zeros_initializer(), "trainable": trainable,
                           "collections": weight_collections}
                if wide is None:
                    try:
                        dense = fc._of_rank(column._dense(tensor), 2, column.name)
                    except ValueError as error:
                        raise ValueError(f"Error creating weighted sum for column: {column.name}.\n{error}") from None
                    variable = model_variable("weight", shape=[dense.get_shape()[1].value, num_outputs], **options)
                    output = tf.matmul(dense, variable, name="matmul")
                else:
                    ids, weights, size, combiner = wide
                    variable = model_variable("weights", shape=[size, num_outputs], dtype=tf.float32, **options)
                    output = safe_embedding_lookup_sparse(variable, ids, sparse_weights=weights, combiner=combiner,
                                                          name=column.name + "_weights")
            outputs.append(tf.reshape(output, shape=(-1, num_outputs)))
            variables[column] = [variable] if isinstance(variable, tf.Variable) else list(variable)
            logging.info("Created variable %s", variable.name)
            fc._restore(column._checkpoint(), variable)
        total = tf.add_n(outputs)
        bias = _bias(num_outputs, trainable, weight_collections)
        return tf.nn.bias_add(total, bias), variables, bias


def joint_weighted_sum_from_feature_columns(columns_to_tensors, feature_columns, num_outputs, weight_collections=None,
                                            trainable=True, scope=None):
    """The same with one variable for all columns, which must be of classes."""
    check_feature_columns(feature_columns)
    columns_to_tensors = dict(columns_to_tensors)
    values = list(columns_to_tensors.values())
    with tf.variable_scope(scope, default_name="joint_weighted_sum_from_feature_columns", values=values):
        transformer, offset, parts = fc._Transformer(columns_to_tensors), 0, []
        for column in _ordered(feature_columns):
            wide = column._wide(transformer.transform(column))
            if wide is None:
                raise NotImplementedError("Real-valued columns are not supported. Use weighted_sum_from_feature_columns "
                                          "instead, or bucketize these columns.")
            ids, weights, size, combiner = wide
            if weights is not None or combiner != "sum":
                raise AssertionError("Joint sums take columns without weights, with the combiner sum. Please use "
                                     "weighted_sum_from_feature_columns instead.")
            parts.append(tf.SparseTensor(ids.indices, tf.to_int64(ids.values) + offset, ids.dense_shape))
            offset += size
        with tf.variable_scope(None, default_name="linear_weights", values=values):
            variable = model_variable("weights", shape=[offset, num_outputs], dtype=tf.float32,
                                      initializer=tf.zeros_initializer(), trainable=trainable,
                                      collections=weight_collections)
            total = safe_embedding_lookup_sparse(variable, tf.sparse_concat(1, parts), combiner="sum", name="_weights")
        bias = _bias(num_outputs, trainable, weight_collections)
        return tf.nn.bias_add(total, bias), [variable], bias


def parse_feature_columns_from_examples(serialized, feature_columns, name=None, example_names=None):
    """Features and the tensors of columns, of serialised examples."""
    check_feature_columns(feature_columns)
    found = tf.parse_example(serialized, fc.create_feature_spec_for_parsing(feature_columns), name=name,
                             example_names=example_names)
    for column in _ordered(feature_columns):
        fc._Transformer(found).transform(column)
    return found


def parse_feature_columns_from_sequence_examples(serialized, context_feature_columns, sequence_feature_columns,
                                                 name=None, example_name=None):
    """(features of the whole, features of the steps) of one serialised sequence example."""
    serialized = tf.reshape(serialized, [])
    context, sequence = context_feature_columns or [], sequence_feature_columns or []
    for columns in (context, sequence):
        check_feature_columns(columns)

    def step(spec):
        if isinstance(spec, tf.FixedLenFeature):
            return tf.FixedLenSequenceFeature(spec.shape, spec.dtype)
        return spec

    steps = {key: step(spec) for key, spec in fc.create_feature_spec_for_parsing(sequence).items()}
    return tf.parse_single_sequence_example(serialized, fc.create_feature_spec_for_parsing(context), steps, example_name,
                                            name)


def transform_features(features, feature_columns):
    """The tensors of columns, by column."""
    check_feature_columns(feature_columns)
    tensors = dict(features)
    transformer = fc._Transformer(tensors)
    return {column: transformer.transform(column) for column in _ordered(feature_columns)}


def _inferred(name, tensor):
    if isinstance(tensor, tf.SparseTensor):
        raise ValueError("SparseTensor is not supported for auto detection. Please define corresponding FeatureColumn for "
                         f"tensor {name} {tensor}.")
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError("Non integer or non floating types are not supported for auto detection. Please define "
                         f"corresponding FeatureColumn for tensor {name} {tensor}.")
    dimension = 1
    for size in tensor.get_shape().as_list()[1:]:
        dimension *= size
    return fc.real_valued_column(name, dimension=dimension, dtype=tensor.dtype)


def infer_real_valued_columns(features):
    """A column of numbers for each feature."""
    if not isinstance(features, dict):
        return [_inferred("", features)]
    return [_inferred(key, value) for key, value in features.items()]
