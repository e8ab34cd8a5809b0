"""tf.profiler: parameters and floating-point operations are those that TensorFlow 1.15.5 counts."""

import pytest

import weir as tf
from weir.inner.ops import get_stats_for_node_def


def test_a_network_is_counted_as_tensorflow_counts_it(capsys, tmp_path):
    x = tf.placeholder(tf.float32, [8, 16, 16, 3])
    net = tf.layers.max_pooling2d(tf.nn.relu(tf.layers.conv2d(x, 4, 3, name="c")), 2, 2)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.layers.flatten(net), 10, name="d")))
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    builder = tf.profiler.ProfileOptionBuilder
    quiet = builder(builder.float_operation()).with_empty_output().build()
    found = tf.profiler.profile(tf.get_default_graph(), options=quiet)
    assert found.total_float_ops == 1348844
    by_type = {node.name: node.total_float_ops for node in
               tf.profiler.profile(tf.get_default_graph(), cmd="op", options=quiet).children}
    assert by_type["Conv2D"] == 338688 and by_type["MatMul"] == 3 * 31360 and by_type["MaxPoolGrad"] == 7840
    assert capsys.readouterr().out == ""
    file = tmp_path / "parameters"
    options = builder(builder.trainable_variables_parameter()).with_file_output(str(file)).build()
    parameters = tf.profiler.profile(options=options)
    assert parameters.total_parameters == 3 * 3 * 3 * 4 + 4 + 196 * 10 + 10
    assert file.read_text().startswith("_TFProfRoot (0/2082 params)\n  c (0/112 params)\n")
    old = tf.contrib.tfprof.model_analyzer
    assert old.print_model_analysis(tf.get_default_graph()).total_parameters == 2082
    assert "d (0/1970 params)" in capsys.readouterr().out


def test_counts_of_single_nodes_are_those_of_the_profiler():
    image = tf.placeholder(tf.float32, [2, 5, 6, 3])
    depthwise = tf.nn.depthwise_conv2d(image, tf.ones([3, 2, 3, 1]), [1, 1, 1, 1], "SAME")
    loss = tf.nn.l2_loss(depthwise)
    nodes = [(depthwise.op, 2 * 5 * 6 * 3 * 3 * 2 * 2), (loss.op, 2 * 5 * 6 * 3 * 3 - 1), (image.op, None)]
    for op, count in nodes:
        assert get_stats_for_node_def(op.graph, op.node_def, "flops").value == count
    unknown = tf.square(tf.placeholder(tf.float32, [None])).op
    with pytest.raises(ValueError, match="not known"):
        get_stats_for_node_def(unknown.graph, unknown.node_def, "flops")
