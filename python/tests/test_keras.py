"""tf.keras on the package Keras: what its layers take for programs of TensorFlow 1. The package is not needed here."""

import sys
import types

import pytest

import weir as tf
from weir import keras
from weir.inner import keras_backend


@pytest.fixture
def layer():
    class Layer:
        def __init__(self, dtype=None):
            self.dtype = dtype

    return Layer


def test_layers_of_programs_see_shapes_with_values(layer):
    keras._give_shapes(layer)

    class Mine(layer):
        def build(self, input_shape):
            self.seen = input_shape

    mine = Mine()
    mine.build((None, 3))
    assert mine.seen == (None, 3) and mine.seen.as_list() == [None, 3] and mine.seen.ndims == 2
    assert mine.seen[-1].value == 3 and mine.seen[0] is None and not mine.seen.is_fully_defined()
    mine.build([(2, 3), (2, 4)])
    assert [shape.as_list() for shape in mine.seen] == [[2, 3], [2, 4]] and mine.seen[1].is_fully_defined()
    mine.build(tf.TensorShape([5]))
    assert isinstance(mine.seen, tf.TensorShape)
    mine.build(input_shape=(1, 2))
    assert mine.seen.as_list() == [1, 2]

    class Without(layer):
        def build(self, input_shape=None):
            self.seen = input_shape

    without = Without()
    without.build()
    assert without.seen is None


def test_layers_take_types_for_their_names(layer):
    keras._take_arguments(layer)
    assert [layer(dtype=dtype).dtype for dtype in (tf.int32, "float16", None)] == ["int32", "float16", None]
    assert layer(activity_regularizer=abs).activity_regularizer is abs


def test_layers_of_programs_always_have_a_type():
    class Plain:
        def __init__(self):
            """Takes nothing and keeps nothing, as Keras' own layers until they are built."""

    keras._take_arguments(Plain)
    assert Plain().dtype is None


def test_weights_have_the_names_of_variables(layer):
    keras._name_weights_variables(layer)
    mine = layer()
    mine.weights, mine.trainable_weights, mine.non_trainable_weights = [1, 2], [1], [2]
    assert (mine.variables, mine.trainable_variables, mine.non_trainable_variables) == ([1, 2], [1], [2])


def test_weights_are_added_with_the_arguments_of_tf_keras():
    class Layer:
        def add_weight(self, **options):
            return options

    keras._take_weights(Layer, {"zeros": dict, "ones": dict}.get)
    added = Layer().add_weight(shape=tf.TensorShape([2, 3]), use_resource=True, trainable=False)
    assert (added["shape"], added["name"], added["initializer"], added["trainable"]) == ((2, 3), None, "glorot_uniform", False)
    added = Layer().add_variable("w", (4,), tf.float64, "ones")
    assert added["dtype"] == "float64" and added["initializer"]() == {"dtype": "float64"} and added["trainable"]
    assert Layer().add_weight("step", dtype=tf.int32)["initializer"]() == {"dtype": "int32"}
    assert Layer().add_weight("done", dtype=tf.bool)["initializer"](()).dtype == tf.bool
    assert Layer()._track_trackable(1, "one") == 1


def test_flatten_takes_matrices_and_unknown_sizes():
    class Flatten:
        def compute_output_shape(self, shape):
            return shape[0], 12

    keras._flatten_matrices(Flatten, dict)
    flatten = Flatten()
    assert flatten.input_spec == {"min_ndim": 2}
    assert [flatten.compute_output_shape(shape) for shape in [(None, 3, 4), (5, None, 4)]] == [(None, 12), (5, None)]


def test_the_backend_has_what_that_of_the_package_has(monkeypatch):
    package = types.ModuleType("keras")
    package.Model, package.backend = object, types.SimpleNamespace(ndim=len)
    monkeypatch.setitem(sys.modules, "keras", package)
    monkeypatch.setattr(keras, "_package", package)
    assert keras_backend.ndim([1, 2]) == 2 and keras_backend.floatx() == "float32"
    with pytest.raises(AttributeError, match="has no attribute 'no_such'"):
        keras_backend.no_such


def test_functions_of_the_backend_read_what_the_program_feeds_now():
    with tf.Graph().as_default() as graph:
        with tf.Session(graph=graph):
            x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
            feeds = {y: 3.}
            multiply = keras_backend.function([x], [x * y], feed_dict=feeds)
            assert multiply([2.]) == [6.]
            feeds[y] = 4.
            assert multiply([2.]) == [8.]


def test_functions_of_the_backend_take_tensors_and_variables():
    with tf.Graph().as_default() as graph:
        with tf.Session(graph=graph) as session:
            x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
            variable = tf.Variable([3., 4.])
            session.run(variable.initializer)
            total = keras_backend.function([x, y], [x + y])
            assert total([tf.constant([1., 2.]), variable])[0].tolist() == [4., 6.]
