"""Specs of tensors with bounds."""

import pickle

import numpy as np
import pytest

import weir as tf

Bounded = tf.contrib.framework.BoundedTensorSpec


def test_bounds_broadcast_to_the_shape_and_cannot_be_changed():
    spec = Bounded((1, 2, 3), tf.float32, 0, (5, 5, 5))
    assert spec.minimum.shape == () and spec.maximum.dtype == np.float32 and list(spec.maximum) == [5, 5, 5]
    with pytest.raises(ValueError, match="read-only"):
        spec.maximum[0] = 100
    for bounds in (((0, 0), 1), (0, (1, 1)), (0, np.ones((2, 1, 2, 3)))):
        with pytest.raises(ValueError, match="not compatible"):
            Bounded((1, 2, 3), tf.float32, *bounds)
    with pytest.raises(ValueError, match="must be provided"):
        Bounded((), tf.float32, None, 1)
    Bounded((None, 3), tf.float32, np.zeros((7, 3)), 1)


def test_specs_are_equal_by_shape_type_and_bounds():
    spec = Bounded((1, 2), tf.int32, (0, 0), 9, "name")
    assert spec == Bounded((1, 2), tf.int32, 0, 9, "name") and spec != Bounded((1, 2), tf.int32, 0, 9) and spec != tf.TensorSpec((1, 2), tf.int32)
    assert pickle.loads(pickle.dumps(spec)) == spec and Bounded.from_spec(spec) == spec
    free = Bounded.from_spec(tf.TensorSpec((1, 2), tf.int32, "free"))
    assert (free.minimum, free.maximum, free.name) == (tf.int32.min, tf.int32.max, "free")
    assert tf.TensorSpec.from_spec(spec) == tf.TensorSpec((1, 2), tf.int32, "name")


def test_specs_of_the_same_unknown_sizes_are_equal():
    assert tf.TensorSpec([None, 7], tf.float32) == tf.TensorSpec([None, 7], tf.float32)
    assert tf.TensorSpec(None, tf.float32) != tf.TensorSpec([None, 7], tf.float32)


def test_the_constant_value_of_a_value_is_the_value():
    array = np.arange(3)
    assert tf.contrib.util.constant_value(array) is array and tf.contrib.util.constant_value("text") == "text"


def test_specifications_of_batches_are_derived_from_their_class():
    from weir.core.type_spec import BatchableTypeSpec

    class Pair(BatchableTypeSpec):
        value_type = property(lambda self: tuple)
        _component_specs = property(lambda self: (tf.TensorSpec([], tf.int32),) * 2)
        _serialize = _unbatch = lambda self: ()
        _to_components = _from_components = lambda self, value: tuple(value)
        _batch = lambda self, size: self  # noqa: E731

    first, second = tf.constant(1), tf.constant(2)
    assert Pair()._to_batched_tensor_list((first, second)) == [first, second] and Pair() == Pair()
    with pytest.raises(TypeError, match="abstract"):
        BatchableTypeSpec()
