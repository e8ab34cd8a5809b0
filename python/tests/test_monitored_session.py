"""Sessions that save, restore, call hooks, and end when they are told to."""

import os
import signal
import subprocess
import sys

import pytest

import weir as tf


def counting():
    step = tf.train.get_or_create_global_step()
    return step, step.assign_add(1)


def test_training_goes_on_from_the_checkpoint(tmp_path):
    folder = str(tmp_path)
    for last in (5, 8):
        with tf.Graph().as_default():
            step, count = counting()
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_steps=3,
                                                   hooks=[tf.train.StopAtStepHook(last_step=last)]) as sess:
                while not sess.should_stop():
                    value = sess.run(count)
            assert value == last
    assert tf.train.latest_checkpoint(folder).endswith("model.ckpt-8")
    assert os.path.exists(os.path.join(folder, "graph.pbtxt"))


def test_hooks_see_every_run_and_may_feed_and_fetch():
    seen = []

    class Hook(tf.train.SessionRunHook):
        def begin(self):
            seen.append("begin")

        def after_create_session(self, session, coord):
            seen.append("created")

        def before_run(self, run_context):
            return tf.train.SessionRunArgs({"twice": twice}, feed_dict={x: len(seen)})

        def after_run(self, run_context, run_values):
            seen.append(int(run_values.results["twice"]))
            if len(seen) == 5:
                run_context.request_stop()

        def end(self, session):
            seen.append("end")

    x = tf.placeholder(tf.int32, [])
    twice = x * 2
    with tf.train.MonitoredSession(hooks=[Hook()]) as sess:
        while not sess.should_stop():
            sess.run(x)
    assert seen == ["begin", "created", 4, 6, 8, "end"]


def test_a_lost_session_is_made_again():
    lost = []

    class Hook(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            if len(lost) < 2:
                lost.append(run_context.session)
                raise tf.errors.AbortedError(None, None, "lost")

    value = tf.constant(3)
    with tf.train.MonitoredSession(hooks=[Hook()]) as sess:
        assert sess.run(value) == 3
    assert len(set(map(id, lost))) == 2


def test_the_end_of_the_input_is_the_end_of_the_block():
    number = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    seen = []
    with tf.train.SingularMonitoredSession() as sess:
        while not sess.should_stop():
            seen.append(int(sess.run(number)))
    assert seen == [0, 1, 2, 3, 4]


def test_nan_and_logging_hooks():
    step, count = counting()
    loss = tf.log(tf.cast(3 - count, tf.float32))
    with pytest.raises(tf.train.NanLossDuringTrainingError):
        with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss),
                                              tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=1)]) as sess:
            while not sess.should_stop():
                sess.run(loss)


def test_supervisor_saves_and_restores(tmp_path):
    for expected in (3, 6):
        with tf.Graph().as_default():
            step, count = counting()
            supervisor = tf.train.Supervisor(logdir=str(tmp_path))
            with supervisor.managed_session() as sess:
                for _ in range(3):
                    value = sess.run(count)
                supervisor.saver.save(sess, supervisor.save_path, global_step=supervisor.global_step)
            assert value == expected


def test_sigterm_saves_and_ends(tmp_path):
    program = f"""
import os, signal, weir as tf
step = tf.train.get_or_create_global_step()
count = step.assign_add(1)
with tf.train.MonitoredTrainingSession(checkpoint_dir={str(tmp_path)!r}, save_checkpoint_secs=600) as sess:
    while not sess.should_stop():
        if sess.run(count) == 4:
            os.kill(os.getpid(), signal.SIGTERM)
print("ended")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "ended\n", ended.stderr
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-4")


def test_sigterm_ends_a_program_whose_session_was_closed_in_another_thread():
    program = """
import os, signal, threading, weir as tf
tf.train.get_or_create_global_step()
session = tf.train.MonitoredTrainingSession()
closing = threading.Thread(target=session.close)
closing.start()
closing.join()
os.kill(os.getpid(), signal.SIGTERM)
print("not ended")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.returncode == -signal.SIGTERM and ended.stdout == "", ended.stderr


def test_a_session_that_is_closed_gives_the_handler_of_sigterm_back():
    tf.train.get_or_create_global_step()
    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with tf.train.MonitoredTrainingSession():
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
