"""Sparse tensors and what reads them."""

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
