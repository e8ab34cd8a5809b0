"""Sparse tensors and what reads them."""

import numpy as np
import pytest

import weir as tf


def test_sparse_tensors_become_dense(sess):
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [5.0, 6.0], [3, 2])
    assert sess.run(tf.sparse_tensor_to_dense(sparse)).tolist() == [[0, 5], [0, 0], [6, 0]]
    assert sess.run(tf.sparse_to_dense([1, 3], [4], 7, -1)).tolist() == [-1, 7, -1, 7]
    assert tf.sparse.to_dense is tf.sparse_tensor_to_dense
    with pytest.raises(TypeError):
        tf.sparse_tensor_to_dense([1.0])


def test_string_split_gives_the_words_in_rows(sess):
    words = sess.run(tf.string_split(["a b", "", "c"]))
    assert words.indices.tolist() == [[0, 0], [0, 1], [2, 0]]
    assert words.values.tolist() == [b"a", b"b", b"c"] and words.dense_shape.tolist() == [3, 2]
    assert sess.run(tf.string_split(["a,b"], delimiter=",")).values.tolist() == [b"a", b"b"]
    assert sess.run(tf.string_split(["ab"], "").values).tolist() == [b"a", b"b"]


def test_products_with_sparse_matrices_have_gradients(sess):
    values, b = tf.constant([2.0, 3.0]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    product = tf.sparse_tensor_dense_matmul(tf.SparseTensor([[0, 1], [1, 0]], values, [2, 2]), b)
    dense = np.array([[0, 2], [3, 0]], np.float32)
    assert sess.run(product).tolist() == (dense @ [[1, 2], [3, 4]]).tolist()
    values_grad, b_grad = sess.run(tf.gradients(product, [values, b]))
    assert values_grad.tolist() == [7.0, 3.0] and b_grad.tolist() == [[3, 3], [2, 2]]


def test_embeddings_of_sparse_ids_are_combined_and_trained(sess):
    table = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([2, 0, 1], tf.int64), [2, 2])
    weights = tf.SparseTensor(ids.indices, [3.0, 1.0, 2.0], [2, 2])
    sess.run(tf.global_variables_initializer())
    mean = tf.nn.embedding_lookup_sparse(table, ids, None)
    assert mean.op.name == "embedding_lookup_sparse" and sess.run(mean).tolist() == [[2, 3], [2, 3]]
    total = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="sum")
    assert sess.run(total).tolist() == [[12, 16], [4, 6]]
    grad = tf.gradients(mean, table)[0]
    assert isinstance(grad, tf.IndexedSlices)
    assert sess.run(tf.convert_to_tensor(grad)).tolist() == [[0.5, 0.5], [1, 1], [0.5, 0.5]]
    with pytest.raises(TypeError, match="sp_ids must be SparseTensor"):
        tf.nn.embedding_lookup_sparse(table, [1], None)
    with pytest.raises(TypeError, match="sp_weights must be either None or SparseTensor"):
        tf.nn.embedding_lookup_sparse(table, ids, [1.0])
    with pytest.raises(ValueError, match="combiner must be one of"):
        tf.nn.embedding_lookup_sparse(table, ids, None, combiner="max")


def test_embeddings_of_fed_sparse_ids(sess):
    parts = [tf.constant([[0.0, 1.0], [4.0, 5.0]]), tf.constant([[2.0, 3.0]])]
    ids, weights = tf.sparse_placeholder(tf.int64), tf.sparse_placeholder(tf.float32)
    places = np.array([[0, 0], [0, 1], [1, 0]], np.int64)
    feed = {ids: (places, [2, 0, 1], [2, 2]), weights: (places, [3.0, 4.0, 2.0], [2, 2])}
    for combiner, plain, weighted in (("sum", [[4, 6], [2, 3]], [[12, 19], [4, 6]]),
                                      ("mean", [[2, 3], [2, 3]], [[12 / 7, 19 / 7], [2, 3]]),
                                      ("sqrtn", [[4 / 2 ** 0.5, 6 / 2 ** 0.5], [2, 3]], [[2.4, 3.8], [2, 3]])):
        results = [tf.nn.embedding_lookup_sparse(parts, ids, w, combiner=combiner) for w in (None, weights)]
        for actual, expected in zip(sess.run(results, feed), (plain, weighted)):
            np.testing.assert_allclose(actual, expected, rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.nn.embedding_lookup_sparse(parts[0], ids, None), {ids: ([[0, 0]], [7], [1, 1])})


def test_segments_of_chosen_rows(sess):
    data = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    indices, ids = [2, 0, 0], [0, 0, 2]
    assert sess.run(tf.sparse_segment_sum(data, indices, ids)).tolist() == [[6, 8], [0, 0], [1, 2]]
    assert sess.run(tf.sparse_segment_mean(data, indices, ids, num_segments=4)).tolist() == [
        [3, 4], [0, 0], [1, 2], [0, 0]]
    root = tf.sparse.segment_sqrt_n(data, [0, 1, 2, 2], [0, 0, 0, 0])
    assert sess.run(root).tolist() == [[7, 9]]
    assert sess.run(tf.gradients(root, data)[0]).tolist() == [[0.5, 0.5], [0.5, 0.5], [1, 1]]
    ids = tf.placeholder(tf.int32, [None])
    total = tf.sparse_segment_sum(data, tf.zeros_like(ids), ids)
    assert sess.run(total, {ids: [0, 1]}).tolist() == [[1, 2], [1, 2]]
    assert sess.run(total, {ids: []}).shape == (0, 2)
    for bad in ([1, 0], [-1, 0], [-2]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(total, {ids: bad})


def test_indices_outside_are_errors_of_the_run(sess):
    indices = tf.placeholder(tf.int64, [None, 2])
    values = tf.placeholder(tf.float32, [None])
    product = tf.sparse_tensor_dense_matmul(tf.SparseTensor(indices, values, [2, 3]), tf.ones([3, 2]))
    assert sess.run(product, {indices: np.zeros((0, 2)), values: []}).tolist() == [[0, 0], [0, 0]]
    for bad in ([[2, 0]], [[0, 3]], [[-1, 0]], [[0, -(2 ** 62)]]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
            sess.run(product, {indices: bad, values: [1.0]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"values of shape \[2\] at indices of shape \[1,2\]"):
        sess.run(product, {indices: [[0, 0]], values: [1.0, 2.0]})


def test_rolls_bits_and_base64(sess):
    assert sess.run(tf.roll([1, 2, 3, 4, 5], shift=2, axis=0)).tolist() == [4, 5, 1, 2, 3]
    assert sess.run(tf.manip.roll([["a", "b"], ["c", "d"]], [1, 1], [0, 1])).tolist() == [[b"d", b"c"], [b"b", b"a"]]
    assert sess.run(tf.bitcast(tf.constant([1.0, -2.0]), tf.int32)).tolist() == [0x3f800000, -1073741824]
    assert sess.run(tf.bitcast(tf.constant([0x0201], tf.int16), tf.uint8)).tolist() == [[1, 2]]
    with pytest.raises(ValueError):
        tf.bitcast(tf.constant([1, 2, 3], tf.int16), tf.int64)
    assert sess.run(tf.encode_base64(["hello", ""], pad=True)).tolist() == [b"aGVsbG8=", b""]
    assert sess.run(tf.decode_base64(["aGVsbG8=", "__79"])).tolist() == [b"hello", b"\xff\xfe\xfd"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.decode_base64("a+b/"))
    assert tf.io.encode_base64 is tf.encode_base64 and tf.io.TFRecordWriter is tf.python_io.TFRecordWriter


def test_scatters_combine_with_what_is_there(sess):
    for resource in (False, True):
        v = tf.Variable([1.0, 2.0, 3.0], use_resource=resource)
        sess.run(v.initializer)
        assert sess.run(tf.scatter_mul(v, [0, 2], [5.0, 2.0])).tolist() == [5, 2, 6]
        assert sess.run(tf.scatter_div(v, [2], [3.0])).tolist() == [5, 2, 2]
        assert sess.run(tf.scatter_max(v, [1, 0], [4.0, 4.0])).tolist() == [5, 4, 2]
        assert sess.run(tf.scatter_min(v, [0], [-1.0])).tolist() == [-1, 4, 2]
        assert sess.run(v.scatter_mul(tf.IndexedSlices([3.0], [2]))).tolist() == [-1, 4, 6]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"is not in \[0, 3\)"):
            sess.run(tf.scatter_max(v, [3], [1.0]))
        wide = tf.Variable(np.array([1.0, 2.0]), use_resource=resource)
        sess.run(wide.initializer)
        assert sess.run(tf.scatter_div(wide, [1], [4.0])).tolist() == [1, 0.5]


def test_write_graph_writes_what_can_be_read_again(tmp_path):
    tf.constant(1.0, name="one")
    graph = tf.get_default_graph()
    text = tf.train.write_graph(graph, str(tmp_path / "new"), "graph.pbtxt")
    binary = tf.train.write_graph(graph.as_graph_def(), str(tmp_path), "graph.pb", as_text=False)
    assert 'name: "one"' in open(text).read()
    read = tf.GraphDef()
    with open(binary, "rb") as file:
        read.ParseFromString(file.read())
    assert [node.name for node in read.node] == ["one"]
