"""What users of TensorFlow 1 reported of its servers, sessions and queues; here it does not happen. Each test names the issue
of tensorflow/tensorflow. Others are in test_replicas.py: 7767, 6780 (a parameter server that is killed), 13806 (a worker that
is), 25858 (parameter servers that never end)."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import weir.compat.v1 as tf
from weir import errors
from weir.train import monitored_session

PYTHON_PATH = os.path.dirname(os.path.dirname(os.path.abspath(errors.__file__)))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@contextlib.contextmanager
def local_cluster(workers, servers):
    """Tasks of this process, that end with the block."""
    tasks = tf.test.create_local_cluster(workers, servers)
    try:
        yield tasks
    finally:
        for task in tasks[0] + tasks[1]:
            task.stop()


def join_all(threads, seconds=90):
    end = time.time() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.time()))
    assert not any(thread.is_alive() for thread in threads), "some wait for ever"


def test_a_port_is_free_when_its_server_has_stopped():
    """11872: a server's port could not be had again."""
    cluster = {"ps": [f"localhost:{free_port()}"], "worker": [f"localhost:{free_port()}"]}
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(1.0)
    for _ in range(4):
        servers = [tf.train.Server(cluster, job_name=job, task_index=0) for job in ("ps", "worker")]
        with tf.Session(servers[1].target) as session:
            session.run(v.initializer)
            assert session.run(v + 1) == 2
        for server in servers:
            server.stop()


def test_a_task_that_is_not_there_is_named_and_need_not_be_waited_for():
    """14662: "CreateSession still waiting for response from worker", for ever."""
    cluster = {"ps": [f"localhost:{free_port()}"], "worker": ["localhost:0"]}
    server = tf.train.Server(cluster, job_name="worker", task_index=0)
    x = tf.constant(1.0) + 1
    with tf.Session(server.target, config=tf.ConfigProto(operation_timeout_in_ms=300)) as session:
        with pytest.raises(errors.DeadlineExceededError, match="/job:ps/replica:0/task:0"):
            session.run(x)
    with tf.Session(server.target, config=tf.ConfigProto(device_filters=["/job:worker"])) as session:
        assert session.run(x) == 2
    server.stop()


@pytest.mark.parametrize("where", ["here", "server"])
def test_enqueueing_with_a_timeout_does_not_hang(where):
    """3978: with an operation timeout the third enqueue hung until it was over."""
    server = tf.train.Server.create_local_server() if where == "server" else None
    queue = tf.FIFOQueue(50, [tf.int32], [()], name=f"timeout_{where}")
    enqueue = queue.enqueue_many([[1, 2]])
    with tf.Session(server.target if server else "", config=tf.ConfigProto(operation_timeout_in_ms=60000)) as session:
        for _ in range(5):
            session.run(enqueue)
        assert session.run(queue.size()) == 10
    if server:
        server.stop()


def test_threads_end_when_their_coordinator_asks():
    """2130: a thread that waited in a dequeue outlived coord.request_stop()."""
    queue = tf.FIFOQueue(100, tf.int32)
    value = tf.placeholder(tf.int32)
    enqueue = queue.enqueue(value)
    batch = tf.train.batch([tf.reshape(queue.dequeue(), [1])], batch_size=1, num_threads=1, capacity=64)
    with tf.Session() as session:
        for i in range(20):
            session.run(enqueue, {value: i})
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=session, coord=coordinator)
        assert [session.run(batch)[0, 0] for _ in range(20)] == list(range(20))
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=60)


def test_queues_behind_each_other_do_not_deadlock():
    """24717: threads of a RandomShuffleQueue and a FIFOQueue waited for each other."""
    numbers = tf.train.range_input_producer(100, num_epochs=3, shuffle=True, capacity=3).dequeue()
    shuffled = tf.train.shuffle_batch([numbers], 5, capacity=20, min_after_dequeue=7, num_threads=3)
    last = tf.train.batch([shuffled], 2, capacity=2, num_threads=2)
    with tf.train.MonitoredSession() as session:
        seen = []
        while not session.should_stop():
            seen.extend(session.run(last).flatten())
    assert len(seen) == 300 and sorted(seen) == sorted(list(range(100)) * 3)


def check_interrupt(fetch, target):
    """A program that waits for what does not come ends its run with Ctrl-C."""
    program = f"""
import weir as tf
fetch = {fetch}
with tf.Session({target}) as session:
    try:
        print("waiting", flush=True)
        session.run(fetch)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, PYTHONPATH=PYTHON_PATH))
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "interrupted\n"


@pytest.mark.parametrize("where", ["", "tf.train.Server.create_local_server().target"])
def test_a_wait_that_nobody_ends_can_be_interrupted(where):
    """7034: without queue runners a dequeue hung, and Ctrl-C did not end it."""
    check_interrupt("tf.train.batch([tf.train.range_input_producer(10).dequeue()], 2)", where)


def test_the_wait_for_a_server_can_be_interrupted():
    """A session with a server that is not there could only be killed."""
    check_interrupt("tf.constant(1.0) + 1", f"'grpc://localhost:{free_port()}'")


def test_sessions_of_forked_processes_run():
    """8220: a session in a process that multiprocessing had forked hung when the parent had run one before."""
    program = """
import multiprocessing
import weir as tf
x = tf.placeholder(tf.float32, [300, 300])
y = tf.reduce_sum(tf.matmul(x, x))
def work(number):
    with tf.Session() as session:
        return float(session.run(y, {x: [[float(number)] * 300] * 300}))
session = tf.Session()
before = [float(session.run(y, {x: [[float(i)] * 300] * 300})) for i in range(4)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, range(4)) == before == [float(session.run(y, {x: [[float(i)] * 300] * 300})) for i in range(4)])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, PYTHONPATH=PYTHON_PATH))
    assert done.stdout == "True\n", done.stderr


def test_a_worker_that_is_refused_does_not_spin(monkeypatch):
    """45088: a worker whose session failed with Unavailable made new ones in an endless loop, without a pause."""
    pauses, made = [], []
    monkeypatch.setattr(monitored_session.time, "sleep", pauses.append)

    class Refused(tf.train.SessionCreator):
        def create_session(self):
            made.append(1)
            if len(made) > 8:
                raise ValueError("enough")
            raise errors.UnavailableError(None, None, "go away")

    with pytest.raises(ValueError, match="enough"):
        tf.train.MonitoredSession(Refused())
    assert pauses == sorted(pauses) and pauses[-1] == 5.0 and sum(pauses) > 10

    class LostAtOnce(tf.train.SessionCreator):
        def create_session(self):
            made.append(1)
            if len(made) > 8:
                raise ValueError("enough")
            return tf.Session()

    class Loses(tf.train.SessionRunHook):
        def before_run(self, run_context):
            raise errors.UnavailableError(None, None, "gone")

    del pauses[:], made[:]
    x = tf.constant(1.0)
    session = tf.train.MonitoredSession(LostAtOnce(), hooks=[Loses()])
    with pytest.raises(ValueError, match="enough"):
        session.run(x)
    session.close()
    assert pauses[-1] == 5.0


def train_synchronously(workers, servers, build):
    """Workers of a cluster in this process, each with its own graph, train what `build` makes together, and all end."""
    ended, failed = [], []

    def work(tasks, task):
        try:
            with tf.Graph().as_default():
                with tf.device(tf.train.replica_device_setter(servers, worker_device=f"/job:worker/task:{task}")):
                    step = tf.train.get_or_create_global_step()
                    loss, hooks = build(task)
                    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.01), workers)
                    train = optimizer.minimize(loss, global_step=step)
                hooks = hooks + [optimizer.make_session_run_hook(task == 0)]
                with tf.train.MonitoredTrainingSession(tasks[task].target, task == 0, hooks=hooks,
                                                       stop_grace_period_secs=5) as session:
                    while not session.should_stop():
                        session.run(train)
            ended.append(task)
        except Exception as error:  # pylint: disable=broad-except
            failed.append((task, error))

    with local_cluster(workers, servers) as (tasks, _):
        threads = [threading.Thread(target=work, args=(tasks, task), daemon=True) for task in range(workers)]
        for thread in threads:
            thread.start()
        join_all(threads)
        assert not failed and len(ended) == workers, failed


def test_synchronous_workers_end_together():
    """7970: all but the chief stayed in their loops."""
    def build(task):
        v = tf.get_variable("v7970", [3])
        return tf.reduce_sum(v * (task + 1.0)), [tf.train.StopAtStepHook(last_step=15)]

    train_synchronously(3, 1, build)


def test_synchronous_workers_end_with_their_common_input():
    """5022: when a shared queue was empty, workers waited for gradients of those that had ended."""
    def build(task):
        with tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(100, tf.float32, [()], shared_name="input5022")
            fill = tf.group(queue.enqueue_many([[1.0] * 21]))
            with tf.control_dependencies([fill]):
                end = queue.close()
            x = queue.dequeue()

        class Fill(tf.train.SessionRunHook):
            def after_create_session(self, session, coord):
                if task == 0:
                    session.run(end)

        return x * tf.reduce_sum(tf.get_variable("v5022", [2])), [Fill()]

    train_synchronously(2, 1, build)


def test_many_variables_do_not_make_synchronous_workers_hang():
    """4651: with many variables training stood still after a while, without an error."""
    def build(task):
        loss = tf.add_n([tf.reduce_sum(tf.get_variable(f"v4651_{i}", [5, 7])) for i in range(60)])
        return loss * (task + 1.0), [tf.train.StopAtStepHook(last_step=12)]

    train_synchronously(2, 2, build)


def test_iterators_are_found_by_their_handles_in_a_cluster():
    """14613: in a MonitoredTrainingSession of a cluster, Iterator.from_string_handle failed or the session was made again and again."""
    with tf.device(tf.train.replica_device_setter(1, worker_device="/job:worker/task:0")):
        step = tf.train.get_or_create_global_step()
        train_data, test_data = (tf.data.Dataset.range(n).map(lambda x: x * 10) for n in (5, 3))
        handle = tf.placeholder(tf.string, [])
        value = tf.data.Iterator.from_string_handle(handle, train_data.output_types, train_data.output_shapes).get_next()
        iterators = [tf.data.make_one_shot_iterator(data) for data in (train_data, test_data)]
        handles = [iterator.string_handle() for iterator in iterators]
        v = tf.get_variable("v14613", [], tf.int64, initializer=tf.zeros_initializer())
        total = tf.assign_add(v, value)
        count = tf.assign_add(step, 1)
    sessions = []

    class Handles(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            sessions.append(session.run(handles))

    with local_cluster(1, 1) as (workers, _), \
            tf.train.MonitoredTrainingSession(workers[0].target, True, hooks=[Handles()]) as session:
        train, test = sessions[0]
        got = [session.run([value, count], {handle: h})[0] for h in (train, train, test, train, test)]
        assert got == [0, 10, 0, 20, 10] and session.run(total, {handle: train}) == 30
    assert len(sessions) == 1


def test_a_monitored_session_ends_when_other_tasks_are_gone():
    """21745: a chief's MonitoredTrainingSession never came back from its end when the other worker had ended before."""
    with tf.device("/job:ps/task:0"):
        step = tf.train.get_or_create_global_step()
        count = tf.assign_add(step, 1)
    with tf.device("/job:worker/task:1"):
        other = tf.identity(count)
    with local_cluster(2, 1) as (workers, servers):
        session = tf.train.MonitoredTrainingSession(workers[0].target, True)
        assert session.run(other) == 1
        workers[1].stop()
        servers[0].stop()
        closing = threading.Thread(target=session.close)
        closing.start()
        join_all([closing], 30)
