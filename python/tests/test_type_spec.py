"""TypeSpec: what values of a kind have in common, and structures in which such values are nested too."""

import pickle

import pytest

import weir as tf


class Pair:
    def __init__(self, x, y):
        self.x, self.y = x, y


class PairSpec(tf.TypeSpec):
    def __init__(self, shape, color="red"):
        self.shape, self.color = tf.TensorShape(shape), color

    value_type = property(lambda self: Pair)
    _component_specs = property(lambda self: (tf.TensorSpec(self.shape, tf.int32), tf.TensorSpec([], tf.bool)))

    def _serialize(self):
        return self.shape, self.color

    def _to_components(self, value):
        return value.x, value.y

    def _from_components(self, components):
        return Pair(*components)


def test_specifications_are_equal_by_what_they_say():
    assert PairSpec([None, 2]) == PairSpec([None, 2]) and hash(PairSpec([None, 2])) == hash(PairSpec([None, 2]))
    assert PairSpec([None]) != PairSpec([3]) and PairSpec([3]) != PairSpec([3], "blue")
    assert tf.TensorSpec([None], tf.int32) == tf.TensorSpec([None], tf.int32)
    assert tf.TensorSpec([2], name="a") != tf.TensorSpec([2], name="b")
    assert repr(PairSpec([3])) == "PairSpec(TensorShape([Dimension(3)]), 'red')"
    assert pickle.loads(pickle.dumps(tf.SparseTensorSpec([2, None], tf.string))) == tf.SparseTensorSpec([2, None], tf.string)


def test_what_two_specifications_have_in_common():
    assert PairSpec([None, 2]).is_compatible_with(PairSpec([3, 2])) and not PairSpec([2]).is_compatible_with(PairSpec([3]))
    assert PairSpec([4, 2]).most_specific_compatible_type(PairSpec([3, 2])) == PairSpec([None, 2])
    with pytest.raises(ValueError, match="not compatible"):
        PairSpec([2]).most_specific_compatible_type(PairSpec([2], "blue"))


def test_values_are_taken_apart_and_put_together():
    spec, x, y = PairSpec([2]), tf.constant([1, 2]), tf.constant(True)
    assert spec._to_tensor_list(Pair(x, y)) == [x, y]
    made = spec._from_tensor_list([x, y])
    assert made.x is x and made.y is y
    with pytest.raises(ValueError, match="Incompatible input"):
        PairSpec([3])._from_tensor_list([x, y])


def test_structures_nest_composites_when_asked_to():
    sparse = tf.SparseTensor([[0, 1]], [5], [2, 3])
    structure = {"b": [sparse, 1], "a": tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))}
    assert len(tf.nest.flatten(structure)) == 3
    flat = tf.nest.flatten(structure, expand_composites=True)
    assert len(flat) == 6 and flat[2] is sparse.indices
    again = tf.nest.pack_sequence_as(structure, flat, expand_composites=True)
    assert isinstance(again["b"][0], tf.SparseTensor) and again["b"][0].values is sparse.values
    doubled = tf.nest.map_structure(lambda part: part, sparse, expand_composites=True)
    assert doubled.dense_shape is sparse.dense_shape
    with pytest.raises(TypeError, match="nested type"):
        tf.nest.assert_same_structure(sparse, structure["a"], expand_composites=True)


def test_ragged_tensors_are_composites():
    ragged = tf.ragged.constant([[1, 2], [3]])
    values, splits = tf.nest.flatten(ragged, expand_composites=True)
    assert values is ragged.flat_values and splits is ragged.row_splits
    assert tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(ragged)
