"""Inputs of exported models."""

import weir as tf
from weir.contrib.learn.estimators.estimator import InputFnOps


def build_parsing_serving_input_fn(feature_spec, default_batch_size=None):
    """Features from serialised tf.Examples."""
    def input_fn():
        examples = tf.placeholder(tf.string, shape=[default_batch_size], name="input_example_tensor")
        return InputFnOps(tf.parse_example(examples, feature_spec), None, {"examples": examples})

    return input_fn


def build_default_serving_input_fn(features, default_batch_size=None):
    """Features as they are."""
    def input_fn():
        placeholders = {}
        for name, tensor in features.items():
            shape = [default_batch_size, *tensor.get_shape().as_list()[1:]]
            placeholders[name] = tf.placeholder(tensor.dtype, shape=shape, name=tensor.op.name)
        return InputFnOps(placeholders, None, placeholders)

    return input_fn
