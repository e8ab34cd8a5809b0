import re

import numpy as np
import pytest

import weir as tf
from weir import _weir


def network():
    x = tf.placeholder(tf.float32, [None, 12, 12, 32], name="x")
    filters = tf.Variable(tf.random_normal([5, 5, 32, 32], seed=1), name="filters")
    loss = tf.reduce_sum(tf.square(tf.nn.conv2d(x, filters, [1, 1, 1, 1], "SAME")), name="loss")
    return x, loss, tf.train.GradientDescentOptimizer(1e-6).minimize(loss, name="train")


def images():
    return np.random.RandomState(0).rand(8, 12, 12, 32).astype(np.float32)


def write_graph(path):
    graph = tf.get_default_graph().as_graph_def()
    with open(path, "wb") as file:
        file.write(str(graph).encode() if str(path).endswith("txt") else graph.SerializeToString())


def test_profile_tells_each_nodes_time_and_rate():
    x, loss, train = network()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        table = sess.profile([loss, train], {x: images()}, steps=2)
    assert re.search(r"\d us +\d+\.\d% +[\d.]+ GFLOP/s +Conv2D +Conv2D\n", table), table
    assert "gradients/Conv2D_grad/Conv2DBackpropFilter" in table


def test_profile_wants_a_step():
    x, loss, _ = network()
    with tf.Session() as sess, pytest.raises(ValueError, match="at least 1"):
        sess.profile(loss, {x: images()}, steps=0)


def test_direct_convolutions_are_another_method_with_the_same_result():
    x, loss, _ = network()
    y = loss.graph.get_tensor_by_name("Conv2D:0")
    results = []
    for direct in (False, True):
        with tf.Session(direct_convolutions=direct) as sess:
            sess.run(tf.global_variables_initializer())
            results.append(sess.run(y, {x: images()}))
    assert np.any(results[0] != results[1])
    np.testing.assert_allclose(*results, atol=1e-4 * np.abs(results[1]).max())


@pytest.mark.parametrize("file", ["graph.pb", "graph.pbtxt", "model.meta"])
def test_the_command_profiles_graphs_of_files(file, tmp_path, capfd):
    x, loss, train = network()
    tf.add_to_collection("train_op", train)
    path = str(tmp_path / file)
    words = ["profile", path, "--batch", "4", "--steps", "1", "--threads", "1"]
    if file.endswith(".meta"):
        tf.train.export_meta_graph(path)
    else:
        tf.global_variables_initializer()
        write_graph(path)
        words += ["--run", "train", "--timeline", str(tmp_path / "step.json")]
    assert _weir.run_command(words) == 0
    assert "Conv2DBackpropFilter" in capfd.readouterr().out
    assert file.endswith(".meta") or "traceEvents" in (tmp_path / "step.json").read_text()


@pytest.mark.parametrize("words, message", [
    ([], "--run must name the nodes"),
    (["--run", "train", "--batch", "many"], "--batch is 'many'"),
    (["--run", "train", "--shapes", "x"], "'x' in --shapes"),
])
def test_the_command_explains_how_it_is_used(words, message, tmp_path, capfd):
    network()
    write_graph(tmp_path / "graph.pb")
    assert _weir.run_command(["profile", str(tmp_path / "graph.pb"), *words]) == 2
    assert message in capfd.readouterr().err


def test_the_command_names_what_is_not_there(tmp_path, capfd):
    network()
    write_graph(tmp_path / "graph.pb")
    assert _weir.run_command(["profile", str(tmp_path / "graph.pb"), "--run", "nowhere"]) == 1
    assert "nowhere" in capfd.readouterr().err
    assert _weir.run_command(["profile", str(tmp_path / "graph.pb"), "--run", "train", "--shapes", "y=2"]) == 1
    assert "no placeholder 'y'" in capfd.readouterr().err
