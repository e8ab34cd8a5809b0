"""tf.contrib.opt: averages of models and of variables, and stale gradients."""

import threading

import numpy as np
import pytest

import weir as tf


def test_moving_averages_are_saved_under_the_names_of_variables(tmp_path):
    with tf.Graph().as_default():
        w = tf.Variable(10.0, name="w")
        optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), average_decay=0.5)
        with pytest.raises(RuntimeError, match="Must call apply_gradients or minimize"):
            optimizer.swapping_saver()
        train = optimizer.minimize(w * 2.0)
        saver, plain = optimizer.swapping_saver(), tf.train.Saver()
        with pytest.raises(ValueError, match="not part of variables to save"):
            optimizer.swapping_saver([w])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
            assert session.run(w) == 8.0
            path = saver.save(session, str(tmp_path / "model"))
        reader = tf.train.NewCheckpointReader(path)
        assert reader.get_tensor("w") == 9.0  # the average of 10 and 8
        assert reader.get_tensor("w/ExponentialMovingAverage") == 8.0
        with tf.Session() as session:
            saver.restore(session, path)
            assert session.run(w) == 8.0
            plain.restore(session, path)
            assert session.run(w) == 9.0


def test_models_are_averaged_every_other_step():
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        workers = []
        for worker in range(2):  # each by itself, in a scope of its own
            getter = tf.contrib.opt.ModelAverageCustomGetter("/cpu:0")
            with tf.variable_scope(f"worker{worker}", custom_getter=getter):
                w = tf.get_variable("w", initializer=1.0)
                optimizer = tf.contrib.opt.ModelAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 1, True, getter,
                                                                 interval_steps=2)
                train = optimizer.minimize(w * (worker + 1.0), global_step=step, var_list=[w])
            assert w in tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES)
            workers.append((w, getter._local_2_global[w], optimizer, train))
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            session.run(tf.global_variables_initializer())
            for worker, (w, common, optimizer, train) in enumerate(workers):
                session.run(optimizer._chief_init_op)
                session.run(train)
                assert session.run([w, common]) == [1.0 - (worker + 1), 1.0]
                session.run(train)
                assert session.run([w, common]) == [1.0 - 2 * (worker + 1)] * 2
            assert session.run(step) == 2


def test_elastic_averages_move_towards_each_other():
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        getter = tf.contrib.opt.ElasticAverageCustomGetter("/cpu:0")
        with tf.variable_scope("", custom_getter=getter):
            w = tf.get_variable("w", initializer=4.0)
        optimizer = tf.contrib.opt.ElasticAverageOptimizer(tf.train.MomentumOptimizer(1.0, 0.0), 1, getter,
                                                           communication_period=2, moving_rate=0.25, rho=0.0)
        train = optimizer.minimize(w * 2.0, global_step=step)
        init = optimizer.get_init_op(0)
        common = getter._global_map[w]
        saver = optimizer.swapping_saver()
        assert any(v.op.name.endswith("Momentum") for v in tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES))
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            session.run(init)
            session.run(train)
            assert session.run([w, common, step]) == [2.0, 4.0, 0]
            session.run(train)  # 0, which is 4 from the common variable: both move by 1
            assert session.run([w, common, step]) == [1.0, 3.0, 1]
        assert saver is not None


def test_stale_gradients_are_dropped():
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        w = tf.Variable(0.0)
        late = tf.FIFOQueue(1, [tf.float32], shapes=[[]])
        optimizer = tf.contrib.opt.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(1.0), staleness=1)
        train = optimizer.minimize(w * late.dequeue(), global_step=step)
        value = tf.placeholder(tf.float32, [])
        give = late.enqueue(value)
        others = step.assign_add(2)
        begun = threading.Event()
        note = tf.py_func(lambda _: begun.set(), [optimizer._local_step], [])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(give, {value: 1.0})
            session.run(train)
            assert session.run([w, step]) == [-1.0, 1]
            worker = threading.Thread(target=session.run, args=([train, note],))
            worker.start()
            begun.wait()  # it has noted step 1, and waits for its input; others go on meanwhile
            session.run(others)
            session.run(give, {value: 1.0})
            worker.join()
            assert session.run([w, step]) == [-1.0, 3]
            np.testing.assert_equal(session.run(tf.get_default_graph().get_tensor_by_name("stale_counter:0")), 1.0)


def test_corrected_averages_of_shared_variables_are_shared():
    from weir.train import schedules

    def step():
        mean = tf.get_variable("mean", [2], initializer=tf.zeros_initializer(), trainable=False)
        return schedules.assign_moving_average(mean, tf.ones([2]), 0.9, zero_debias=True)

    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("s"):
            first = step()
        with tf.variable_scope("s", reuse=True):
            second = step()
        assert [v.op.name for v in tf.global_variables()] == ["s/mean", "s/s/mean/biased", "s/s/mean/local_step"]
        session.run(tf.global_variables_initializer())
        assert [np.round(session.run(op), 5).tolist() for op in (first, second)] == [[1, 1], [1, 1]]
