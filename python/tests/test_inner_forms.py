"""What inner modules of TensorFlow offer to its own tests and to libraries."""

import numpy as np
import pytest

import weir as tf
from weir.estimator import old_exports
from weir.inner import inplace_ops, rnn_cell_impl
from weir.inner.bijector_checks import assert_bijective_and_finite, assert_scalar_congruency
from weir.inner.ops import TF_TryEvaluateConstant_wrapper
from weir.inner.variables import init_variable
from weir.ops import init_ops_v2
from weir.ops.control_flow_ops import _case_helper


def test_nodes_can_be_given_attributes():
    graph = tf.get_default_graph()
    with graph._attr_scope({"_mine": tf.AttrValue(s=b"yes"), "_number": lambda node: tf.AttrValue(i=3)}):
        op = tf.constant(1.0).op
    op._set_attr("_later", tf.AttrValue(b=True))
    assert (op.get_attr("_mine"), op.get_attr("_number"), op.get_attr("_later")) == (b"yes", 3, True)
    assert graph.as_graph_def().node[-1].attr["_mine"].s == b"yes"
    with pytest.raises(TypeError, match="attr_map"):
        with graph._attr_scope({1: 2}):
            pass


def test_initializers_of_the_second_release_take_their_type_in_the_call():
    with tf.Session() as session:
        assert session.run(init_ops_v2.Ones()([2], tf.int32)).dtype == np.int32
        assert session.run(init_ops_v2.RandomNormal(seed=1)([4, 4], tf.float64)).dtype == np.float64
    with pytest.raises(ValueError, match="floating point"):
        init_ops_v2.VarianceScaling()([2, 2], tf.int32)
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        init_ops_v2.Constant([1, 2])([3])


def test_bijectors_are_checked():
    bijectors = tf.contrib.distributions.bijectors
    with tf.Session():
        assert_scalar_congruency(bijectors.Exp(), -2.0, 1.5, rtol=0.05)
        assert_bijective_and_finite(bijectors.Exp(), np.float32([0, 1]), np.float32([1, 2]), event_ndims=0)
        with pytest.raises(AssertionError):
            assert_bijective_and_finite(bijectors.Exp(), np.float32([0, 1000]), np.float32([1, 2]), event_ndims=0)


def test_exports_are_kept_by_their_versions(tmp_path):
    for version in (1, 2, 3, 6):
        (tmp_path / str(version)).mkdir()
    paths = old_exports.get_paths(str(tmp_path), lambda path: path._replace(export_version=int(path.path.split("/")[-1])))

    def kept(chosen):
        return [path.export_version for path in chosen(paths)]

    newest, even = old_exports.largest_export_versions(2), old_exports.mod_export_version(2)
    assert kept(newest) == [3, 6] and kept(even) == [2, 6] and kept(old_exports.union(newest, even)) == [2, 3, 6]
    assert kept(old_exports.negation(newest)) == [1, 2] and kept(old_exports.one_of_every_n_export_versions(3)) == [3, 6]


def test_rows_are_changed_one_after_another():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    results = [inplace_ops.alias_inplace_update(x, 1, [7.0, 8.0]), inplace_ops.inplace_add(x, [0, 2], [[1.0, 1.0], [2.0, 2.0]]),
               inplace_ops.inplace_sub(x, None, tf.ones([3, 2])), inplace_ops.empty_like(x, init=True)]
    with tf.Session() as session:
        changed, added, less, zeros = session.run(results)
    assert changed.tolist() == [[1, 2], [7, 8], [5, 6]] and added.tolist() == [[2, 3], [3, 4], [7, 8]]
    assert less.tolist() == [[0, 1], [2, 3], [4, 5]] and zeros.tolist() == [[0, 0]] * 3


def test_loops_of_libraries_put_shapes_together():
    batch = tf.placeholder(tf.int32, [])
    assert rnn_cell_impl._concat(batch, [3, None], static=True) is None  # not even the rank, as in TensorFlow
    assert rnn_cell_impl._concat(tf.constant(2), 3, static=True) == [2, 3]
    assert rnn_cell_impl._concat(batch, tf.TensorShape(None), static=True) is None
    with tf.Session() as session:
        assert session.run(rnn_cell_impl._concat(batch, tf.TensorShape([4, 5])), {batch: 2}).tolist() == [2, 4, 5]
    with pytest.raises(ValueError, match="prefix or suffix of None"):
        rnn_cell_impl._concat(batch, [None])
    assert rnn_cell_impl._like_rnncell(tf.nn.rnn_cell.GRUCell(2)) and not rnn_cell_impl._like_rnncell(tf.nn.relu)


def test_cases_with_truth_values_that_are_known():
    def choose(pred, true_fn, false_fn):
        return (true_fn if pred else false_fn)() if isinstance(pred, bool) else tf.cond(pred, true_fn, false_fn)

    fed = tf.placeholder(tf.bool, [])
    pairs = [(False, lambda: tf.constant(1)), (fed, lambda: tf.constant(2)), (True, lambda: tf.constant(3))]
    chosen = _case_helper(choose, pairs, lambda: tf.constant(4), False, "case", allow_python_preds=True)
    with tf.Session() as session:
        assert [session.run(chosen, {fed: value}) for value in (True, False)] == [2, 3]
    with pytest.raises(TypeError, match="pred must be a Tensor, got: False"):
        tf.case(pairs)
    known = tf.less(tf.constant(1), tf.constant(2))
    known, unknown = (TF_TryEvaluateConstant_wrapper(t.graph._c_graph, t._as_tf_output()) for t in (known, fed))
    assert known and unknown is None and fed._op is fed.op


def test_variables_are_initialized_by_functions_and_values():
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    with tf.Session() as session:
        for init in (tf.ones_initializer(), [1.0, 1.0]):
            session.run(v.initializer)
            session.run(init_variable(v, init))
            assert session.run(v).tolist() == [1, 1]


def test_operations_may_get_their_inputs_one_by_one():
    graph = tf.get_default_graph()
    a, b = tf.constant([1.0, 2.0], name="a"), tf.constant([3.0, 4.0], name="b")
    before = tf.no_op("before")
    original = tf.concat([a, b], 0, name="original").op
    node = original.node_def
    node.name = "copy"
    node.attr["_class"].list.s.append(b"loc:@a")
    copied = tf.Operation(node, graph, [], original._output_types, [], [], None, original.op_def)
    graph._add_op(copied)
    copied._add_control_inputs([before])
    for tensor in (b, a, original.inputs[2]):
        copied._add_input(tensor)
    assert isinstance(copied, tf.Operation) and copied.name == "copy" and "copy" not in graph._nodes_by_name
    assert copied.outputs[0].shape.as_list() == [4] and copied.control_inputs == [before]
    assert "variables" not in graph._collections
    assert tf.Variable(0.0) in graph._collections["variables"]
    assert graph.get_operation_by_name("copy").inputs[0] is b and graph._nodes_by_name["copy"].type == "ConcatV2"
    with tf.Session() as session:
        assert session.run(copied.outputs[0]).tolist() == [3, 4, 1, 2]


def test_a_convolution_is_made_for_shapes_and_called_with_tensors():
    nn_ops = tf.python.ops.nn_ops
    x, w = tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 1])
    convolution = nn_ops.Convolution(x.shape, filter_shape=w.shape, padding="VALID", strides=(2, 2))
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(convolution(x, w)), np.full([1, 2, 2, 1], 18))
    with pytest.raises(ValueError, match="rank 3"):
        nn_ops.Convolution(x.shape, filter_shape=[3, 2, 1], padding="SAME")


def test_what_recurrent_libraries_take_from_inner_modules():
    transposed = tf.contrib.seq2seq.python.ops.decoder._transpose_batch_time(tf.zeros([2, 3, 4]))
    assert transposed.shape.as_list() == [3, 2, 4]
    assert tf.python.ops.rnn._transpose_batch_time(tf.zeros([2])).shape.as_list() == [2]
    operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    with operator._name_scope("mine"):
        assert tf.constant(1).op.name == "LinearOperatorDiag/mine/Const"
    operator._check_input_dtype(tf.zeros([2]))
    with pytest.raises(TypeError, match="Expected argument to have dtype"):
        operator._check_input_dtype(tf.zeros([2], tf.float64))
