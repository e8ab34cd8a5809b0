"""SavedModels through TensorFlow's names."""

import numpy as np
import pytest

import weir as tf


def _save(path, **options):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable(tf.ones([3, 2]) * 2, name="w")
    y = tf.matmul(x, w, name="y")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        builder = tf.saved_model.builder.SavedModelBuilder(path)
        with pytest.raises(AssertionError, match="has not been saved yet"):
            builder.add_meta_graph(["serve"])
        signature = tf.saved_model.signature_def_utils.predict_signature_def({"x": x}, {"y": y})
        builder.add_meta_graph_and_variables(
            sess, [tf.saved_model.tag_constants.SERVING],
            {tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature}, **options)
        return builder.save()


def test_a_model_comes_back_with_its_values(tmp_path):
    path = str(tmp_path / "model")
    assert _save(path) == (path + "/saved_model.pb").encode()
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.loader.load(sess, ["serve"], path)
        signature = meta.signature_def["serving_default"]
        value = sess.run(signature.outputs["y"].name, {signature.inputs["x"].name: np.ones((1, 3))})
        np.testing.assert_array_equal(value, [[6, 6]])
        assert [v.name for v in tf.global_variables()] == ["w:0"]
    with tf.Session(graph=tf.Graph()) as sess, pytest.raises(RuntimeError, match="tags .train. could not be found"):
        tf.saved_model.loader.load(sess, ["train"], path)


def test_mistakes_have_tensorflows_classes(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    with pytest.raises(AssertionError, match="isn't empty"):
        tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "full"))
    assert not tf.saved_model.loader.maybe_saved_model_directory(str(tmp_path))
    with tf.Session() as sess, pytest.raises(OSError, match="SavedModel file does not exist"):
        tf.saved_model.loader.load(sess, ["serve"], str(tmp_path))
    with pytest.raises(ValueError, match="outputs cannot be None or empty"):
        tf.saved_model.predict_signature_def({"x": tf.constant(1.0)}, {})


def test_simple_save_has_one_signature_for_serving(tmp_path):
    x = tf.placeholder(tf.float32, [None], name="x")
    tf.saved_model.simple_save(tf.Session(), str(tmp_path / "model"), {"x": x}, {"y": x * 2})
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.load(sess, ["serve"], str(tmp_path / "model"))
        assert list(meta.signature_def) == ["serving_default"]
        assert tf.saved_model.is_valid_signature(meta.signature_def["serving_default"])
