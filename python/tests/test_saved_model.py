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


def test_signatures_have_the_types_that_servers_want():
    utils, constants = tf.saved_model.signature_def_utils, tf.saved_model.signature_constants
    text, number = tf.TensorInfo(dtype=tf.string.as_datatype_enum), tf.TensorInfo(dtype=tf.float32.as_datatype_enum)
    classify, regress = constants.CLASSIFY_METHOD_NAME, constants.REGRESS_METHOD_NAME
    for inputs, outputs, method, valid in (
        ({"inputs": text}, {"classes": text, "scores": number}, classify, True),
        ({"inputs": text}, {"scores": number}, classify, True),
        ({"inputs": number}, {"scores": number}, classify, False),
        ({"inputs": text}, {"classes": number}, classify, False),
        ({"inputs": text}, {"scores": number, "more": text}, classify, False),
        ({"inputs": text}, {"outputs": number}, regress, True),
        ({"inputs": text}, {"outputs": text}, regress, False),
        ({"any": number}, {"other": text}, constants.PREDICT_METHOD_NAME, True),
        ({}, {"other": text}, constants.PREDICT_METHOD_NAME, False),
        ({"any": number}, {"other": text}, "no/method", False),
    ):
        assert utils.is_valid_signature(utils.build_signature_def(inputs, outputs, method)) == valid, (inputs, outputs, method)


def test_signatures_of_training_and_of_operations():
    from weir.saved_model import signatures

    with tf.Graph().as_default() as graph:
        x, loss = tf.constant([1.0], name="x"), tf.constant(2.0, name="loss")
        for make, method in ((signatures.supervised_train_signature_def, "tensorflow/supervised/training"),
                             (signatures.supervised_eval_signature_def, "tensorflow/supervised/eval")):
            signature = make({"x": x}, {"loss": loss}, predictions={"p": x}, metrics={"m/value": loss})
            assert signature.method_name == method and set(signature.outputs) == {"loss", "p", "m/value"}
            with pytest.raises(ValueError, match="cannot be None or empty"):
                make({}, {"loss": loss})
        signature = signatures.op_signature_def(tf.no_op(name="op"), "key")
        assert signatures.load_op_from_signature_def(signature, "key") is graph.get_operation_by_name("op")
