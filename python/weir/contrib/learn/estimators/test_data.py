"""The irises as TensorFlow's own tests of estimators feed them."""

import numpy as np

import weir as tf
from weir.contrib.learn.csv_files import Dataset, load_iris


def get_quantile_based_buckets(feature_values, num_buckets):
    """The numbers that cut values into buckets of equal sizes."""
    return list(np.percentile(np.array(feature_values), [100 * (i + 1.0) / (num_buckets + 1.0) for i in range(num_buckets)]))


def prepare_iris_data_for_logistic_regression():
    """The first two species."""
    iris = load_iris()
    chosen = iris.target < 2
    return Dataset(data=iris.data[chosen], target=iris.target[chosen])


def _tensors(iris):
    return ({"feature": tf.constant(iris.data, dtype=tf.float32)},
            tf.constant(iris.target.reshape(-1, 1), dtype=tf.int32))


def iris_input_multiclass_fn():
    return _tensors(load_iris())


def iris_input_logistic_fn():
    return _tensors(prepare_iris_data_for_logistic_regression())
