"""freeze_graph, strip_unused and optimize_for_inference."""

import os

import numpy as np
import pytest

import weir as tf
from weir.tools import freeze_graph, inspect_checkpoint, optimize_for_inference_lib, strip_unused_lib


def _model(directory):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        v = tf.get_variable("v", initializer=[[1.0], [2.0]])
        r = tf.get_variable("r", initializer=3.0, use_resource=True)
        tf.add(tf.matmul(x, v), r, name="y")
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, os.path.join(directory, "model"), global_step=7)
        tf.train.write_graph(session.graph, directory, "graph.pbtxt")
        tf.saved_model.simple_save(session, os.path.join(directory, "saved"), {"x": x},
                                   {"y": session.graph.get_tensor_by_name("y:0")})
    return path


def _predict(graph_def):
    assert not [node for node in graph_def.node if node.op in ("Variable", "VariableV2", "VarHandleOp")]
    with tf.Graph().as_default():
        y, = tf.import_graph_def(graph_def, return_elements=["y:0"], name="")
        with tf.Session() as session:
            return session.run(y, {"x:0": [[10.0, 100.0]]}).tolist()


def test_a_graph_is_frozen_from_every_kind_of_file(tmp_path):
    directory = str(tmp_path)
    checkpoint = _model(directory)
    frozen = os.path.join(directory, "frozen.pb")
    freeze_graph.freeze_graph(os.path.join(directory, "graph.pbtxt"), "", False, checkpoint, "y", "save/restore_all",
                              "save/Const:0", frozen, True, "")
    assert _predict(tf.GraphDef.FromString(open(frozen, "rb").read())) == [[213]]
    given = freeze_graph.freeze_graph(None, "", True, checkpoint, "y", "", "", "", True, "",
                                      input_meta_graph=checkpoint + ".meta")
    assert _predict(given) == [[213]]
    given = freeze_graph.freeze_graph(None, "", True, None, "y", "", "", "", True, "",
                                      input_saved_model_dir=os.path.join(directory, "saved"))
    assert _predict(given) == [[213]]
    with pytest.raises(ValueError, match="doesn't exist"):
        freeze_graph.freeze_graph(os.path.join(directory, "graph.pbtxt"), "", False, "nowhere", "y", "", "", "", True, "")
    with pytest.raises(ValueError, match="supply the name of a node"):
        freeze_graph.freeze_graph(os.path.join(directory, "graph.pbtxt"), "", False, checkpoint, "", "", "", "", True, "")


def test_a_checkpoint_is_printed(tmp_path, capsys):
    inspect_checkpoint.print_tensors_in_checkpoint_file(_model(str(tmp_path)), "v", False)
    assert "tensor_name:  v\n[[1.]\n [2.]]" in capsys.readouterr().out


def test_what_is_before_the_inputs_is_stripped():
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        b = tf.add(a, 2.0, name="b")
        tf.multiply(b, 3.0, name="c")
    stripped = strip_unused_lib.strip_unused(graph.as_graph_def(), ["b"], ["c"], tf.float32.as_datatype_enum)
    assert {node.name: node.op for node in stripped.node} == {"b": "Placeholder", "c/y": "Const", "c": "Mul"}
    with pytest.raises(KeyError, match="not found"):
        strip_unused_lib.strip_unused(graph.as_graph_def(), ["d"], ["c"], 1)
    with pytest.raises(ValueError, match="refer to a Tensor"):
        strip_unused_lib.strip_unused(graph.as_graph_def(), ["b:0"], ["c"], 1)


@pytest.mark.parametrize("depthwise", [False, True])
def test_batch_normalisation_is_folded_into_weights(depthwise):
    rng = np.random.RandomState(0)
    with tf.Graph().as_default() as graph:
        x = tf.constant(rng.randn(1, 5, 5, 2).astype("f"), name="x")
        weights = tf.constant(rng.randn(3, 3, 2, 2).astype("f"), name="weights")
        filtered = (tf.nn.depthwise_conv2d if depthwise else tf.nn.conv2d)(x, weights, [1, 1, 1, 1], "SAME")
        size = 4 if depthwise else 2
        norm = [tf.constant(rng.rand(size).astype("f") + 0.5) for _ in range(4)]
        y, _, _ = tf.nn.fused_batch_norm(filtered, *norm, epsilon=0.01, is_training=False)
        y = tf.identity(y, name="y")
        with tf.Session() as session:
            before = session.run(y)
    folded = optimize_for_inference_lib.fold_batch_norms(graph.as_graph_def())
    assert not [node for node in folded.node if node.op.startswith("FusedBatchNorm")]
    with tf.Graph().as_default():
        y, = tf.import_graph_def(folded, return_elements=["y:0"])
        with tf.Session() as session:
            np.testing.assert_allclose(session.run(y), before, rtol=1e-4, atol=1e-5)


def test_training_nodes_go_and_the_graph_stays_valid():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.multiply(tf.identity(tf.check_numerics(x, "bad")), 2.0, name="y")
    small = optimize_for_inference_lib.optimize_for_inference(graph.as_graph_def(), ["x"], ["y"], 1)
    assert sorted(node.name for node in small.node) == ["x", "y", "y/y"]


@pytest.mark.parametrize("padded, resized", [(True, True), (True, False), (False, True)])
def test_convolutions_take_in_what_enlarges_and_pads_their_input(padded, resized):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.constant(np.arange(12.0, dtype=np.float32).reshape(1, 2, 3, 2), name="x")
        if resized:
            x = tf.image.resize_bilinear(x, [12, 4])
        if padded:
            x = tf.pad(x, [[0, 0], [1, 1], [2, 2], [0, 0]], mode="REFLECT")
        weights = tf.constant(np.arange(8.0, dtype=np.float32).reshape(1, 2, 2, 2))
        tf.nn.conv2d(x, weights, [1, 1, 1, 1], padding="VALID", name="y")
        expected = session.run("y:0")
    fused = optimize_for_inference_lib.fuse_resize_and_conv(graph.as_graph_def(), ["y"])
    assert not {"Conv2D", "MirrorPad", "ResizeBilinear"} & {node.op for node in fused.node}
    with tf.Graph().as_default(), tf.Session() as session:
        y, = tf.import_graph_def(fused, return_elements=["y:0"])
        np.testing.assert_allclose(session.run(y), expected, rtol=1e-5)
