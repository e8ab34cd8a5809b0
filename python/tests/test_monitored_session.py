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


def test_saver_restores_into_a_monitored_session(tmp_path):
    v = tf.Variable(1.0)
    other, saver = v.assign(5.0), tf.train.Saver()
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "model"))
    with tf.train.SingularMonitoredSession() as sess:
        sess.run(other)
        saver.restore(sess, path)
        assert sess.run(v) == 1.0


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


def end_by_sigterm_at(program, said):
    """The output of the program, which gets SIGTERM when it has printed ``said``, up to its end."""
    running = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in running.stdout:
            if said in line:
                break
        else:
            raise AssertionError(f"the program ended without {said!r}")
        running.terminate()
        output = running.communicate(timeout=60)[0]
        return running.returncode, output
    finally:
        running.kill()
        running.wait()


def test_sigterm_ends_a_worker_that_waits_for_its_chief():
    code, output = end_by_sigterm_at("""
import weir as tf
tf.logging.set_verbosity(tf.logging.INFO)
tf.Variable(1.0)
tf.train.MonitoredTrainingSession(is_chief=False)
print("not ended")
""", "Waiting for model to be ready")
    assert code == -signal.SIGTERM and "not ended" not in output, output


@pytest.mark.usefixtures("grpc")
def test_sigterm_ends_a_wait_for_a_server_that_is_not_there():
    code, output = end_by_sigterm_at("""
import socket, weir as tf
with socket.socket() as held:
    held.bind(("127.0.0.1", 0))
    tf.Variable(1.0)
    tf.train.MonitoredTrainingSession("grpc://127.0.0.1:%d" % held.getsockname()[1])
print("not ended")
""", "the session still waits")
    assert code == -signal.SIGTERM and "not ended" not in output, output


def test_sigterm_before_a_loss_ends_the_session_instead_of_making_it_again():
    program = """
import os, signal, weir as tf
from weir import errors

class Loses(tf.train.SessionRunHook):
    def after_run(self, context, values):
        os.kill(os.getpid(), signal.SIGTERM)
        raise errors.UnavailableError(None, None, "lost")

step = tf.train.get_or_create_global_step()
session = tf.train.MonitoredSession(hooks=[Loses()])
try:
    session.run(step)
except errors.CancelledError:
    print("cancelled", session.should_stop())
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "cancelled True\n", ended.stderr


def test_sigterm_ends_a_session_within_another_one_which_saves(tmp_path):
    program = f"""
import os, signal, weir as tf

class Evaluates(tf.train.SessionRunHook):
    def after_run(self, context, values):
        with tf.Graph().as_default():
            count = tf.train.get_or_create_global_step().assign_add(1)
            with tf.train.MonitoredSession() as session:
                while not session.should_stop():
                    if session.run(count) == 3:
                        os.kill(os.getpid(), signal.SIGTERM)

count = tf.train.get_or_create_global_step().assign_add(1)
with tf.train.MonitoredTrainingSession(checkpoint_dir={str(tmp_path)!r}, hooks=[Evaluates()]) as session:
    while not session.should_stop():
        session.run(count)
print("ended")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "ended\n", ended.stderr
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-1")


def test_a_program_that_was_told_to_end_begins_no_further_session():
    program = """
import os, signal, weir as tf
from weir import errors
count = tf.train.get_or_create_global_step().assign_add(1)
for i in range(2):
    try:
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                session.run(count)
                os.kill(os.getpid(), signal.SIGTERM)
            print("saved")
    except errors.CancelledError:
        print("cancelled")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "saved\ncancelled\n", ended.stderr


def test_sigterm_saves_after_a_session_was_made_again(tmp_path):
    program = f"""
import os, signal, weir as tf
from weir import errors

class LosesOnce(tf.train.SessionRunHook):
    lost = False
    def after_run(self, context, values):
        if not self.lost:
            self.lost = True
            raise errors.UnavailableError(None, None, "lost")

count = tf.train.get_or_create_global_step().assign_add(1)
with tf.train.MonitoredTrainingSession(checkpoint_dir={str(tmp_path)!r}, hooks=[LosesOnce()]) as session:
    while not session.should_stop():
        session.run(count)
        os.kill(os.getpid(), signal.SIGTERM)
print("ended")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "ended\n", ended.stderr
    assert tf.train.latest_checkpoint(str(tmp_path))


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
