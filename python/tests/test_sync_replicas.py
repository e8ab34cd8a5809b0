"""SyncReplicasOptimizer, and where replica_device_setter puts variables."""

import numpy as np
import pytest

import weir as tf


def _graph(optimizer=None, **kwargs):
    """A step whose gradient of w is what is fed as x."""
    x = tf.placeholder(tf.float32, [])
    w = tf.Variable(0.0, name="w")
    table = tf.Variable(tf.zeros([3, 2]), name="table")
    step = tf.train.get_or_create_global_step()
    sync = tf.train.SyncReplicasOptimizer(optimizer or tf.train.GradientDescentOptimizer(1.0), **kwargs)
    loss = w * x + tf.reduce_sum(tf.gather(table, [1])) * x
    return x, w, table, step, sync, sync.minimize(loss, global_step=step)


def test_a_single_worker_trains_by_its_hook():
    with tf.Graph().as_default():
        x, w, table, step, sync, train = _graph(replicas_to_aggregate=1, total_num_replicas=1)
        hooks = [sync.make_session_run_hook(is_chief=True, num_tokens=0), tf.train.StopAtStepHook(last_step=10)]
        with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
            while not session.should_stop():
                session.run(train, {x: 1.0})
                value, rows, count = session.run_step_fn(lambda step_context: step_context.session.run([w, table, step]))
                assert value == -count and rows[1].tolist() == [-count, -count] and not rows[0].any()
        assert count == 10


def test_moving_averages_follow_the_update():
    with tf.Graph().as_default():
        averages = tf.train.ExponentialMovingAverage(0.5)
        x = tf.placeholder(tf.float32, [])
        w = tf.Variable(0.0, name="w")
        step = tf.train.get_or_create_global_step()
        sync = tf.train.SyncReplicasOptimizer(tf.train.AdamOptimizer(1.0), 1, 1, variable_averages=averages,
                                              variables_to_average=[w])
        train = sync.minimize(w * x, global_step=step)
        average = averages.average(w)
        tokens = sync.get_init_tokens_op()
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            session.run(sync.chief_init_op)
            session.run(tokens)
            session.run(train, {x: 1.0})
            session.run(sync.get_chief_queue_runner().enqueue_ops)
            np.testing.assert_allclose(session.run([w, average]), [-1.0, -0.5], rtol=1e-5)
        assert sync.get_slot_names() == ["m", "v"] and sync.get_slot(w, "m") is not None


def test_mistakes_are_named():
    with tf.Graph().as_default():
        w = tf.Variable(0.0)
        sync = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 5, 2)
        with pytest.raises(ValueError, match="Global step is required to check staleness"):
            sync.minimize(w * 2.0)
        with pytest.raises(ValueError, match="Must supply at least one variable"):
            sync.apply_gradients([])
        with pytest.raises(ValueError, match=r"get_init_tokens_op\(\) should be called after apply_gradients"):
            sync.get_init_tokens_op()
        with pytest.raises(ValueError, match=r"Should be called after apply_gradients\(\)"):
            sync.get_chief_queue_runner()
        with pytest.raises(ValueError, match="apply_gradient should be called before using the hook"):
            sync.make_session_run_hook(True).begin()
        sync.minimize(w * 2.0, global_step=tf.train.get_or_create_global_step())
        with pytest.raises(ValueError, match=r"Too few tokens to finish the first step: 2 \(given\) vs 3 \(needed\)"):
            sync.get_init_tokens_op(2)


def test_the_local_step_stays_with_the_worker():
    with tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:3")):
            x, w, _, step, sync, train = _graph(replicas_to_aggregate=2)
        assert w.device == "/job:ps/task:0" and step.device == "/job:ps/task:0"
        assert sync._local_step.device == "/job:worker/task:3"
        assert sync._sync_token_queue.queue_ref.op.device == "/job:ps/task:0"
        assert tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES) == [sync._local_step]
        accumulators = [op for op in tf.get_default_graph().get_operations() if op.type.endswith("ConditionalAccumulator")]
        assert {op.device for op in accumulators} == {"/job:ps/task:0"}
        assert sorted(op.get_attr("shared_name") for op in accumulators) == [b"table:0/grad_accum", b"w:0/grad_accum"]


def test_variables_go_to_the_servers_in_turn_by_bytes_or_by_chance():
    def places(strategy=None):
        with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)):
            variables = [tf.Variable(tf.zeros(shape)) for shape in ([100, 10], [5], [7], [3])]
            assert variables[0].initializer.device == variables[0].device
            return [int(v.device[-1]) for v in variables]

    assert places() == [0, 1, 0, 1]
    greedy = tf.contrib.training.GreedyLoadBalancingStrategy(2, tf.contrib.training.byte_size_load_fn)
    assert places(greedy) == [0, 1, 1, 1]
    assert set(places(tf.contrib.training.RandomStrategy(2, seed=1))) <= {0, 1}
    with tf.Graph().as_default():
        variable = tf.Variable(tf.zeros([10, 2], tf.float64))
        assert tf.contrib.training.byte_size_load_fn(variable.op) == 160
    with pytest.raises(TypeError, match="ps_strategy must be callable"):
        tf.train.replica_device_setter(ps_tasks=1, ps_strategy=3)
