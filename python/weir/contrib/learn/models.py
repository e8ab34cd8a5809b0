"""tf.contrib.learn.models and ops: small models of before there were estimators."""

import weir as tf


def _variables(scope, x, size, init_mean, init_stddev):
    dtype = x.dtype.base_dtype
    options = {} if init_mean is None else {"initializer": tf.random_normal_initializer(init_mean, init_stddev,
                                                                                       dtype=dtype)}
    weights = tf.get_variable("weights", [x.get_shape()[1].value, size], dtype=dtype, **options)
    bias = tf.get_variable("bias", [size], dtype=dtype, **options)
    for name, value in (("x", x), ("weights", weights), ("bias", bias)):
        tf.summary.histogram(f"{scope}.{name}", value)
    return weights, bias


def mean_squared_error_regressor(tensor_in, labels, weights, biases, name=None):
    """(predictions, loss) of a linear regression."""
    with tf.name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = tf.nn.xw_plus_b(tensor_in, weights, biases)
        if labels.get_shape().ndims == 1 and predictions.get_shape().ndims == 2:
            predictions = tf.squeeze(predictions, axis=[1])
        return predictions, tf.losses.mean_squared_error(labels, predictions)


def softmax_classifier(tensor_in, labels, weights, biases, class_weight=None, name=None):
    """(probabilities, loss) of a softmax regression with labels as one-hot rows."""
    with tf.name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = tf.nn.xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = tf.multiply(logits, class_weight)
        return tf.nn.softmax(logits), tf.losses.softmax_cross_entropy(labels, logits)


def linear_regression(x, y, init_mean=None, init_stddev=1.0):
    with tf.variable_scope("linear_regression") as scope:
        size = 1 if y.get_shape().ndims == 1 else y.get_shape()[1].value
        weights, bias = _variables(scope.name, x, size, init_mean, init_stddev)
        return mean_squared_error_regressor(x, y, weights, bias)


def logistic_regression(x, y, class_weight=None, init_mean=None, init_stddev=1.0):
    with tf.variable_scope("logistic_regression") as scope:
        weights, bias = _variables(scope.name, x, y.get_shape()[-1].value, init_mean, init_stddev)
        if class_weight is None:
            try:
                class_weight = tf.get_default_graph().get_tensor_by_name("class_weight:0")
            except KeyError:
                pass
        return softmax_classifier(x, y, weights, bias, class_weight=class_weight)


def linear_regression_zero_init(x, y):
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression_zero_init(x, y):
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def embedding_lookup(params, ids, name="embedding_lookup"):
    """Rows of a table for numbers of any shape."""
    with tf.name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = tf.convert_to_tensor(params), tf.convert_to_tensor(ids)
        return tf.nn.embedding_lookup(params, ids)


def categorical_variable(tensor_in, n_classes, embedding_size, name):
    """A learned vector for each class."""
    with tf.variable_scope(name):
        embeddings = tf.get_variable(name + "_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, tensor_in)


def one_hot_matrix(tensor_in, num_classes, on_value=1.0, off_value=0.0):
    return tf.one_hot(tf.cast(tensor_in, tf.int64), num_classes, on_value, off_value)
