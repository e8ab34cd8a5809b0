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
    with pytest.raises(TypeError):
        tf.nn.embedding_lookup_sparse(table, [1], None)


def test_scatters_combine_with_what_is_there(sess):
    for resource in (False, True):
        v = tf.Variable([1.0, 2.0, 3.0], use_resource=resource)
        sess.run(v.initializer)
        assert sess.run(tf.scatter_mul(v, [0, 2], [5.0, 2.0])).tolist() == [5, 2, 6]
        assert sess.run(tf.scatter_div(v, [2], [3.0])).tolist() == [5, 2, 2]
        assert sess.run(tf.scatter_max(v, [1, 0], [4.0, 4.0])).tolist() == [5, 4, 2]
        assert sess.run(tf.scatter_min(v, [0], [-1.0])).tolist() == [-1, 4, 2]


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
