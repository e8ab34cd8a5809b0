"""Sessions: what they take and how they are entered. Messages are TensorFlow 1.15.5's."""

import collections
import threading
import time
import warnings

import numpy as np
import pytest

import weir as tf
from weir.core.session import register_session_run_conversion_functions
from weir.protos import CallableOptions


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_a_session_is_entered_once():
    session = tf.Session()
    with pytest.raises(RuntimeError, match="not re-entrant"), session, session:
        pass


def test_targets_that_nobody_serves_are_not_found():
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered for the given session options"):
        tf.Session("INVALID_TARGET")


def test_a_second_interactive_session_warns():
    first = tf.InteractiveSession()
    with pytest.warns(UserWarning, match="An interactive session is already active."):
        second = tf.InteractiveSession()
    second.close()
    first.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.InteractiveSession().close()


def test_callables_take_options():
    x = tf.placeholder(tf.float32)
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        add = session.make_callable(x + 1.0, feed_list=[x], accept_options=True)
        assert add(41.0) == 42
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert add(41.0, options=options, run_metadata=metadata) == 42
    assert metadata.step_stats.dev_stats[0].node_stats[0].node_name == "add"


def test_callables_of_options_run_targets_and_lead_tensors_into_others():
    x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
    total = tf.Variable(0.0, name="total")
    update = tf.group(total.assign_add(x * y), name="update")
    fetch, source = tf.multiply(x, y, name="product"), tf.add(x, 1.0, name="source")
    options = CallableOptions(feed=["x:0"], fetch=[fetch.name], target=[update.name])
    options.tensor_connection.add(from_tensor=source.name, to_tensor="y:0")
    with tf.Session() as session:
        session.run(total.initializer)
        step = session._make_callable_from_options(options)
        assert step(2.0) == [6] and step(3.0) == [12]
        assert session.run(total) == 18


def test_a_trace_of_constants_names_the_device():
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.constant(1.0), options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    assert [device.device for device in metadata.step_stats.dev_stats] == ["/job:localhost/replica:0/task:0/device:CPU:0"]


def test_structures_and_indexed_slices_are_fed():
    tensors = (((tf.zeros([2]),),), tf.zeros([2]))
    slices = tf.IndexedSlices(tf.placeholder(tf.float32), tf.placeholder(tf.int64))
    with tf.Session() as session:
        doubled = session.run([tensors[0][0][0] * 2, tensors[1] * 2], {tensors: (((np.ones(2),),), np.ones(2) * 3)})
        assert [value.tolist() for value in doubled] == [[2, 2], [6, 6]]
        assert session.run(tf.identity(slices.values), {slices: ([1.0], [2])}) == [1]


def test_objects_of_other_types_are_registered_once():
    class Squared:
        def __init__(self, tensor):
            self.tensor = tf.square(tensor)

    functions = (lambda x: ([x.tensor], lambda values: values[0]), lambda x, value: [(x.tensor, value)])
    register_session_run_conversion_functions(Squared, *functions)
    with pytest.raises(ValueError):
        register_session_run_conversion_functions(Squared, *functions)
    x = Squared(tf.constant(3.0))
    with tf.Session() as session:
        assert session.run(x) == 9 and session.run(x, {x: 5.0}) == 5


def test_sessions_write_shapes_when_they_are_asked_to():
    tf.constant([[1, 2]])
    config = tf.ConfigProto(graph_options=tf.GraphOptions(infer_shapes=True))
    assert "_output_shapes" not in tf.Session().graph_def.node[0].attr
    assert "_output_shapes" in tf.Session(config=config).graph_def.node[0].attr


def test_a_session_closed_by_another_thread_says_so():
    x, session, errors = tf.constant(5.0), tf.Session(), []

    def run():
        try:
            while True:
                session.run(x)
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.05)
    session.close()
    thread.join()
    assert errors == ["Attempted to use a closed Session."]


def test_hessians_are_second_derivatives():
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    x = tf.constant([5.0, 6.0])
    hessian = tf.hessians(tf.reduce_sum(x[:, None] * matrix * x[None, :]), x)[0]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(hessian), matrix + matrix.T)
    with pytest.raises(ValueError):
        tf.hessians(x, x)


def test_gradients_refuse_wrong_types():
    x, z = tf.constant(1.0), tf.constant(1 + 1j)
    with pytest.raises(TypeError, match=r"Gradients of complex tensors must set grad_ys \(y.dtype = tf.complex128\)"):
        tf.gradients(tf.square(z), z)
    with pytest.raises(TypeError, match="must match"):
        tf.gradients(x, x, grad_ys=[tf.constant(1)])
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        tf.gradients(x, x, unconnected_gradients="nonsense")


def test_a_run_in_parts_runs_every_operation_once():
    a, b = tf.placeholder(tf.float32, name="a"), tf.placeholder(tf.float32, name="b")
    calls = []
    shared = tf.py_func(lambda x: calls.append(1) or x + 1, [a], tf.float32)
    first, second = shared * 2.0, shared * b
    with tf.Session() as session:
        handle = session.partial_run_setup([first, {"second": second}], [a, b])
        assert session.partial_run(handle, first, {a: 1.0}) == 4
        assert session.partial_run(handle, {"second": second}, {b: 10.0}) == {"second": 20}
        assert len(calls) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="has already been fetched"):
            session.partial_run(handle, first)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
            session.partial_run("no handle", first)
        handle = session.partial_run_setup([first, second], [a, b])
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'b'"):
            session.partial_run(handle, second, {a: 1.0})
        other = session.partial_run_setup([first], [a])
        with pytest.raises(tf.errors.InvalidArgumentError, match="was not specified in partial_run_setup"):
            session.partial_run(other, second, {a: 1.0})


def test_savers_save_objects_that_say_how(tmp_path):
    from weir.train.saveable import BaseSaverBuilder

    class Doubled(BaseSaverBuilder.SaveableObject):
        """Kept as twice its value."""

        def __init__(self, variable):
            super().__init__(variable, [BaseSaverBuilder.SaveSpec(variable * 2.0, "", "twice")], "doubled")

        def restore(self, restored_tensors, restored_shapes):
            return self.op.assign(restored_tensors[0] / 2.0)

    v, w = tf.Variable(3.0, name="v"), tf.Variable([1.0, 2.0], name="w")
    saver = tf.train.Saver({"doubled": Doubled(v), "w": w})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "model"), global_step=7)
        assert dict(tf.train.list_variables(path)) == {"twice": [], "w": [2]}
        session.run([v.assign(0.0), w.assign([0.0, 0.0])])
        saver.restore(session, path)
        assert session.run(v) == 3 and session.run(w).tolist() == [1, 2]
    with pytest.raises(ValueError, match="The same saveable will be restored with two names: a"):
        tf.train.Saver({"a": v, "b": v})


def test_rewriting_can_be_switched_off():
    x = tf.placeholder(tf.float32, [64])
    y = tf.nn.relu(x + 1.0) * 2.0 - (x + 1.0)

    def steps(**options):
        config = tf.ConfigProto(graph_options=tf.GraphOptions(**options))
        metadata = tf.RunMetadata()
        with tf.Session(config=config) as session:
            trace = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            assert session.run(y, {x: np.ones(64)}, trace, metadata).tolist() == [2.0] * 64
        return sum(len(device.node_stats) for device in metadata.step_stats.dev_stats)

    rewriter = type(tf.GraphOptions().rewrite_options)
    off = 2  # of RewriterConfig.Toggle
    everything = steps()
    assert everything < steps(rewrite_options=rewriter(remapping=off)) < steps(
        rewrite_options=rewriter(disable_meta_optimizer=True))
    assert steps(rewrite_options=rewriter(disable_meta_optimizer=True)) == steps(
        optimizer_options=tf.OptimizerOptions(opt_level=tf.OptimizerOptions.L0))
    assert steps(rewrite_options=rewriter(layout_optimizer=off)) == everything


def test_views_of_dictionaries_are_fetched_as_lists():
    """Programs that run on Python 2 and 3 fetch what was a list in one of them."""
    x, y = tf.constant(1), tf.constant(2)
    with tf.Session() as session:
        assert session.run({x: 0, y: 0}.keys()) == [1, 2]
        assert session.run([collections.OrderedDict(a=x, b=(y, x)).values(), y]) == [[1, (2, 1)], 2]
