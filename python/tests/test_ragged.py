"""Ragged tensors: rows of different lengths."""

import numpy as np
import pytest

import weir as tf
from weir.ragged import gathering


def value(result):
    with tf.Session() as sess:
        result = sess.run(result)
    return result.to_list() if hasattr(result, "to_list") else result.tolist()


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def digits():
    return tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])


def nested():
    return tf.ragged.constant([[[1, 2], [3]], [], [[4], [5, 6], []]])


def test_constants_have_the_rows_of_lists():
    assert value(digits()) == [[3, 1, 4, 1], [], [5, 9, 2], [6], []]
    assert value(nested()) == [[[1, 2], [3]], [], [[4], [5, 6], []]]
    assert digits().shape.as_list() == [5, None] and nested().ragged_rank == 2
    assert value(tf.ragged.constant([])) == []
    assert tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1).flat_values.shape.as_list() == [3, 2]
    with pytest.raises(ValueError, match="same nesting depth"):
        tf.ragged.constant([1, [2]])
    with pytest.raises(ValueError, match="ragged_rank"):
        tf.ragged.constant([], ragged_rank=8968073515812833920)


def test_parts_make_the_same_rows():
    values = [3, 1, 4, 1, 5]
    assert value(tf.RaggedTensor.from_row_splits(values, [0, 2, 2, 5])) == [[3, 1], [], [4, 1, 5]]
    assert value(tf.RaggedTensor.from_row_lengths(values, [2, 0, 3])) == [[3, 1], [], [4, 1, 5]]
    assert value(tf.RaggedTensor.from_row_starts(values, [0, 2, 2])) == [[3, 1], [], [4, 1, 5]]
    assert value(tf.RaggedTensor.from_row_limits(values, [2, 2, 5])) == [[3, 1], [], [4, 1, 5]]
    assert value(tf.RaggedTensor.from_value_rowids(values, [0, 0, 2, 2, 2], nrows=4)) == [[3, 1], [], [4, 1, 5], []]
    for splits in ([0, 2, 9], [1, 2, 5], [0, 4, 3, 5]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            value(tf.RaggedTensor.from_row_splits(values, splits))


def test_dense_and_sparse_tensors_and_back():
    assert value(digits().to_tensor(-1))[1:3] == [[-1] * 4, [5, 9, 2, -1]]
    assert value(nested().to_tensor()) == [[[1, 2], [3, 0], [0, 0]], [[0, 0]] * 3, [[4, 0], [5, 6], [0, 0]]]
    dense = [[5, 7, 0], [0, 3, 0], [6, 0, 0]]
    assert value(tf.RaggedTensor.from_tensor(dense)) == dense
    assert value(tf.RaggedTensor.from_tensor(dense, lengths=[1, 0, 3])) == [[5], [], [6, 0, 0]]
    assert value(tf.RaggedTensor.from_tensor(dense, padding=0)) == [[5, 7], [0, 3], [6]]
    assert value(tf.RaggedTensor.from_sparse(digits().to_sparse())) == [[3, 1, 4, 1], [], [5, 9, 2], [6], []]
    with pytest.raises(tf.errors.InvalidArgumentError, match="right-ragged"):
        value(tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [0, 2]], [1, 2], [4, 5])))


def test_rows_know_their_lengths():
    assert value(digits().row_lengths()) == [4, 0, 3, 1, 0]
    assert value(digits().value_rowids()) == [0, 0, 0, 0, 2, 2, 2, 3]
    assert value(nested().bounding_shape()) == [3, 3, 2]
    assert value(nested().row_lengths(axis=2)) == [[2, 1], [], [1, 2, 0]]


def test_operators_work_on_elements():
    rt = tf.ragged.constant([[1, 2], [3]])
    assert value(rt + rt * 2) == [[3, 6], [9]]
    assert value(10 - rt) == [[9, 8], [7]]
    assert value(rt < 2) == [[True, False], [False]]
    assert value(rt + [[10], [20]]) == [[11, 12], [23]]
    assert value(tf.square(tf.cast(rt, tf.float32))) == [[1.0, 4.0], [9.0]]
    assert value(tf.where(rt > 1, rt, -rt)) == [[-1, 2], [3]]
    assert value(tf.strings.length(tf.ragged.constant([["a", "bb"], ["ccc"]]))) == [[1, 2], [3]]
    assert value(tf.ragged.map_flat_values(tf.ones_like, rt)) == [[1, 1], [1]]


def test_reductions_go_along_and_across_rows():
    assert value(tf.reduce_sum(digits())) == 31
    assert value(tf.reduce_sum(digits(), axis=0)) == [14, 10, 6, 1]
    assert value(tf.reduce_sum(digits(), axis=1)) == [9, 0, 16, 6, 0]
    assert value(tf.reduce_mean(tf.ragged.constant([[1.0, 2.0], [3.0]]), axis=1)) == [1.5, 3.0]
    assert value(tf.reduce_sum(nested(), axis=2)) == [[3, 3], [], [4, 11, 0]]
    assert value(tf.reduce_sum(nested(), axis=1)) == [[4, 2], [], [9, 6]]
    assert value(tf.reduce_sum(nested(), axis=[1, 2])) == [6, 0, 15]
    assert value(tf.reduce_any(digits() > 4, axis=1)) == [False, False, True, True, False]


def test_rows_are_joined_picked_and_repeated():
    rt = tf.ragged.constant([[1, 2], [3]])
    assert value(tf.concat([rt, rt + 2], axis=0)) == [[1, 2], [3], [3, 4], [5]]
    assert value(tf.concat([rt, rt + 2], axis=1)) == [[1, 2, 3, 4], [3, 5]]
    assert value(tf.stack([rt, rt + 2])) == [[[1, 2], [3]], [[3, 4], [5]]]
    assert value(tf.stack([rt, rt + 2], axis=1)) == [[[1, 2], [3, 4]], [[3], [5]]]
    assert value(tf.gather(nested(), [2, 0])) == [[[4], [5, 6], []], [[1, 2], [3]]]
    assert value(tf.gather(tf.constant([10, 20, 30]), tf.ragged.constant([[0, 2], [1]]))) == [[10, 30], [20]]
    assert value(tf.tile(rt, [2, 2])) == [[1, 2, 1, 2], [3, 3], [1, 2, 1, 2], [3, 3]]
    assert value(tf.ragged.boolean_mask(digits(), digits() > 3)) == [[4], [], [5, 9], [6], []]
    assert value(tf.ragged.range([2, 0], [5, 2])) == [[2, 3, 4], [0, 1]]
    assert value(tf.ragged.stack_dynamic_partitions(["a", "b", "c", "d"], [1, 0, 2, 1], 4)) == [[b"b"], [b"a", b"d"], [b"c"], []]
    assert value(tf.expand_dims(rt, 2)) == [[[1], [2]], [[3]]]


def test_subscripts():
    assert value(digits()[2]) == [5, 9, 2] and value(digits()[0, 1]) == 1 and value(digits()[-2]) == [6]
    assert value(digits()[1:3]) == [[], [5, 9, 2]]
    assert value(digits()[:, :2]) == [[3, 1], [], [5, 9], [6], []]
    assert value(digits()[:, -2:]) == [[4, 1], [], [9, 2], [6], []]
    assert value(nested()[2, 1]) == [5, 6] and value(nested()[..., :1]) == [[[1], [3]], [], [[4], [5], []]]
    with pytest.raises(ValueError, match="inner ragged dimension"):
        digits()[:, 1]


def test_sessions_take_and_give_them():
    rows = tf.ragged.placeholder(tf.int32, 1)
    with tf.Session() as sess:
        doubled = sess.run(rows * 2, {rows: tf.ragged.constant_value([[1, 2], [3]], dtype=np.int32)})
    assert isinstance(doubled, tf.ragged.RaggedTensorValue) and doubled.to_list() == [[2, 4], [6]]
    assert doubled.row_splits.tolist() == [0, 2, 3]


def test_gradients_flow_through_rows():
    x = tf.constant([1.0, 2.0, 3.0])
    rows = tf.RaggedTensor.from_row_lengths(x, [2, 1], validate=False)
    loss = tf.reduce_sum(tf.reduce_sum(rows * rows, axis=1) * [1.0, 10.0])
    assert value(tf.gradients(loss, x)[0]) == [2.0, 4.0, 60.0]


def test_text_becomes_rows_of_characters():
    assert value(tf.strings.unicode_decode(["Hi", "\u4f60"], "UTF-8")) == [[72, 105], [20320]]
    assert value(tf.strings.unicode_encode(tf.ragged.constant([[72, 105], [20320]]), "UTF-8")) == [b"Hi", "\u4f60".encode()]
    assert value(tf.strings.unicode_split(["hi", "\u4f60x"], "UTF-8")) == [[b"h", b"i"], ["\u4f60".encode(), b"x"]]
    assert value(tf.strings.bytes_split(["ab", "c"])) == [[b"a", b"b"], [b"c"]]
    assert value(tf.strings.split(["a b", " c "], result_type="RaggedTensor")) == [[b"a", b"b"], [b"c"]]
    assert value(tf.strings.ngrams(["a", "b", "c"], 2)) == [b"a b", b"b c"]


def test_protos_are_decoded_and_encoded():
    event = tf.Event(step=7, file_version="v").SerializeToString()
    sizes, (steps, versions) = tf.io.decode_proto([event], "tensorflow.Event", ["step", "file_version"], [tf.int64, tf.string])
    assert value(sizes) == [[1, 1]] and value(steps) == [[7]] and value(versions) == [[b"v"]]
    assert value(tf.io.encode_proto(sizes, [steps, versions], ["step", "file_version"], "tensorflow.Event")) == [event]


def test_embeddings_move_to_a_new_vocabulary(tmp_path):
    with tf.Session() as sess:
        old = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2), name="embedding")
        sess.run(old.initializer)
        path = tf.train.Saver([old]).save(sess, str(tmp_path / "model"))
    (tmp_path / "old").write_text("a\nb\nc\n")
    (tmp_path / "new").write_text("c\nx\na\n")
    initializer = tf.contrib.framework.load_embedding_initializer(
        path, "embedding", 3, 2, str(tmp_path / "old"), str(tmp_path / "new"), num_oov_buckets=1, initializer=tf.constant_initializer(9.0))
    assert value(initializer([4, 2])) == [[4.0, 5.0], [9.0, 9.0], [0.0, 1.0], [9.0, 9.0]]
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(3)):  # of which the last holds new rows alone
        initializer = tf.contrib.framework.load_embedding_initializer(
            path, "embedding", 3, 2, str(tmp_path / "old"), str(tmp_path / "new"), num_oov_buckets=3, initializer=tf.constant_initializer(9.0))
        moved = tf.get_variable("moved", [6, 2], initializer=initializer)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(moved.as_tensor()).tolist() == [[4.0, 5.0], [9.0, 9.0], [0.0, 1.0]] + [[9.0, 9.0]] * 3


def test_a_list_of_one_level_is_a_plain_tensor():
    plain = tf.ragged.constant([1, 2, 3])
    assert isinstance(plain, tf.Tensor) and plain.shape.as_list() == [3]
    with pytest.raises(ValueError, match="requires scalar value depth greater than 1"):
        tf.ragged.constant([1, 2, 3], ragged_rank=1)


def test_a_row_may_be_counted_from_the_end_by_a_tensor():
    rows = tf.ragged.constant([[1, 2], [3], [4, 5]])
    with tf.Session() as session:
        assert session.run(rows[tf.constant(-2)]).tolist() == [3]
        assert session.run(rows[tf.constant(0)]).tolist() == [1, 2]


def test_elements_are_gathered_by_their_coordinates():
    with tf.Graph().as_default():
        rows = tf.ragged.constant([[[0, 1], [2]], [[3]], []])
        assert value(tf.gather_nd(rows, [[1, 0], [0, 1]])) == [[3], [2]]
        assert value(tf.gather_nd(rows, [[0, 0, 1], [1, 0, 0]])) == [1, 3]
        assert value(tf.gather_nd(rows, [[2], [1]])) == [[], [[3]]]
        assert value(tf.gather_nd(rows, [[[1, 0]], [[0, 0]]])) == [[[3]], [[0, 1]]]
        with pytest.raises(ValueError, match="innermost dimension of indices may not be ragged"):
            tf.gather_nd(rows, tf.ragged.constant([[0], [1, 2]]))


def test_batches_are_gathered_in_several_dimensions():
    from_module = gathering.batch_gather_with_default
    with tf.Graph().as_default():
        params = tf.ragged.constant([[["a", "b"], ["c"]], [["d", "e", "f"]]])
        indices = tf.ragged.constant([[[1, 0], []], [[2]]])
        assert value(tf.batch_gather(params, indices)) == [[[b"b", b"a"], []], [[b"f"]]]
        rows = tf.ragged.constant([["a", "b"], [], ["c"]])
        assert value(from_module(rows, tf.ragged.constant([[1, -1], [], [5, 0]]), "?")) == [[b"b", b"?"], [], [b"?", b"c"]]
        with pytest.raises(ValueError, match="Dimensions 3 and 2 are not compatible"):
            tf.batch_gather(rows, tf.ragged.constant([[0], [0]]))


def test_dimensions_of_one_are_squeezed():
    with tf.Graph().as_default():
        rows = tf.ragged.constant([[[[1], [2]]], [[[3]]]])
        assert value(tf.squeeze(rows, [1])) == [[[1], [2]], [[3]]]
        assert value(tf.squeeze(rows, [1, 3])) == [[1, 2], [3]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="not squeezable"):
            value(tf.squeeze(rows, [2]))
        with pytest.raises(ValueError, match="must have an axis"):
            tf.squeeze(rows)


def test_where_takes_whole_rows_for_a_vector():
    with tf.Graph().as_default():
        x, y = tf.ragged.constant([[1, 2, 3], [4]]), tf.ragged.constant([[5], [6, 7]])
        assert value(tf.where([True, False], x, y)) == [[1, 2, 3], [6, 7]]
        with pytest.raises(ValueError, match="Input shapes do not match"):
            tf.where(tf.ragged.constant([[True], [False]]), x, [[1], [2]])


def test_rows_are_cut_to_nested_lengths_and_variants_carry_them():
    with tf.Graph().as_default():
        dense = tf.reshape(tf.range(12), [2, 3, 2])
        rows = tf.RaggedTensor.from_tensor(dense, lengths=([2, 1], [1, 2, 0]))
        assert value(rows) == [[[0], [2, 3]], [[]]]
        again = tf.RaggedTensor._from_variant(rows._to_variant(), tf.int32, output_ragged_rank=2)
        assert value(again) == [[[0], [2, 3]], [[]]]
        each = rows._to_variant(batched_input=True)
        assert value(tf.RaggedTensor._from_variant(each, tf.int32, 2, 1)) == [[[0], [2, 3]], [[]]]


def test_segments_of_rows_are_reduced():
    with tf.Graph().as_default():
        rows = tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
        assert value(tf.math.unsorted_segment_sum(rows, [0, 1, 0], 2)) == [[5, 7, 6], [3]]
        assert value(tf.math.unsorted_segment_max(rows, tf.ragged.constant([[0, 1], [1], [0, 0, 1]]), 2)) == [5, 6]


def test_splits_that_differ_are_found_in_thevalue():
    with tf.Graph().as_default():
        with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
            value(tf.ragged.constant([[1, 2], [3]]) + tf.ragged.constant([[1], [2, 3]]))


def test_wrong_subscripts_are_errors():
    with tf.Graph().as_default():
        rows = tf.ragged.constant([[1, 2], [3]])
        for key, error, message in [(2, IndexError, "out of bounds"), ((0, 0, 0), IndexError, "Too many indices"),
                                    ("a", TypeError, "Only integers"), ((slice(None), slice(0.5, 1)), TypeError, "slice offsets must be integers")]:
            with pytest.raises(error, match=message):
                rows[key]
        with pytest.raises(TypeError, match="may not be used as a boolean"):
            bool(rows)


@pytest.mark.parametrize("data, repeats, axis", [([3], [4], 0), ([], [], 0), ([1, 2, 3], [3, 0, 2], -1),
                                                 ([[1, 2, 3], [4, 5, 6]], [3, 5, 7], 1), ([[1, 2], [3, 4]], 0, 1), (3, 2, 0)])
def test_repeat_is_that_of_numpy(data, repeats, axis):
    expected = np.repeat(np.array(data, np.int32), repeats, axis).tolist()
    with tf.Graph().as_default():
        assert value(tf.repeat(tf.constant(data, tf.int32), repeats, axis)) == expected
        known_late = tf.placeholder_with_default(tf.constant(data, tf.int32), None)
        if axis >= 0:
            assert value(tf.repeat(known_late, tf.placeholder_with_default(tf.constant(repeats, tf.int32), None), axis)) == expected


def test_dense_matrices_are_joined_to_ragged_rows_and_parted():
    ragged_concat = tf.concat([tf.ragged.constant([[1]]), tf.constant([[2, 3]])], 0)
    assert value(ragged_concat) == [[1], [2, 3]]
    parts = tf.ragged.stack_dynamic_partitions(tf.constant([["a", "b"], ["c", "d"]]), [[1, 0], [1, 1]], 2)
    assert value(parts) == [[b"b"], [b"a", b"c", b"d"]]


def test_rows_of_splits_of_unknown_shape_are_taken():
    splits = tf.placeholder_with_default(tf.constant([0, 2, 2, 3], tf.int64), None)
    rows = tf.RaggedTensor.from_row_splits(tf.constant([1, 2, 3]), splits, validate=False)
    assert rows.shape.as_list() == [None, None] and value(rows[0]) == [1, 2] and value(rows[-2:]) == [[], [3]]
