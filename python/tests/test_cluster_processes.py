"""Tasks as processes: killed, started again, stopped, asked for their status."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

import weir.compat.v1 as tf
from weir import errors


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def weir(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "weir", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            **options)


def stop(process):
    """Stops a process, and waits until the last of its threads has."""
    os.kill(process, signal.SIGSTOP)
    tasks = f"/proc/{process}/task"
    while any(open(f"{tasks}/{t}/stat").read().rsplit(")", 1)[1].split()[0] != "T" for t in os.listdir(tasks)):
        time.sleep(0.01)


class Cluster:
    def __init__(self, **jobs):
        self.addresses = {job: [f"127.0.0.1:{free_port()}" for _ in range(count)] for job, count in jobs.items()}
        self.text = ";".join(f"{job}={','.join(tasks)}" for job, tasks in self.addresses.items())
        self.tasks = {}
        for job, tasks in self.addresses.items():
            for task in range(len(tasks)):
                self.start(job, task)

    def start(self, job, task):
        process = weir("server", "--cluster", self.text, "--job", job, "--task", str(task), "--threads", "1")
        assert process.stdout.readline() == f"grpc://{self.addresses[job][task]}\n", process.stderr.read()
        self.tasks[job, task] = process

    def kill(self, job, task, how=signal.SIGKILL):
        process = self.tasks.pop((job, task))
        process.send_signal(how)
        return process.wait(timeout=60)

    def target(self, job, task):
        return "grpc://" + self.addresses[job][task]


@pytest.fixture
def cluster():
    cluster = Cluster(ps=1, worker=1)
    yield cluster
    for job, task in list(cluster.tasks):
        cluster.kill(job, task)


def test_a_killed_parameter_server_is_noticed_and_comes_back(cluster):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(1.0, name="v")
        with tf.device("/job:worker/task:0"):
            y = v * 2
        config = tf.ConfigProto(operation_timeout_in_ms=60000)
        session = tf.Session(cluster.target("worker", 0), config=config)
        session.run(v.initializer)
        assert session.run(y) == 2
        cluster.kill("ps", 0)
        with pytest.raises((errors.UnavailableError, errors.AbortedError), match="/job:ps/replica:0/task:0"):
            session.run(y)
        cluster.start("ps", 0)
        with pytest.raises((errors.UnavailableError, errors.AbortedError)):
            session.run(y)
        session.close()
        with tf.Session(cluster.target("worker", 0), config=config) as again:
            with pytest.raises(errors.FailedPreconditionError):  # what it kept is gone with it
                again.run(y)
            again.run(v.initializer)
            assert again.run(y) == 2


def test_large_values_cross_between_processes(cluster):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(tf.zeros([1 << 20]), name="large")
            change = tf.scatter_update(v, [0], [1.0])
        with tf.device("/job:worker/task:0"):
            total = tf.reduce_sum(v)
            value = tf.fill([1 << 20], tf.placeholder_with_default(2.0, []))
            kept = tf.Variable(tf.zeros([1 << 20]), name="kept")
            keep = tf.assign(kept, v)
        with tf.device("/job:ps/task:0"):
            add = tf.assign_add(v, value)
        with tf.Session(cluster.target("worker", 0), config=tf.ConfigProto(operation_timeout_in_ms=60000)) as session:
            session.run(tf.global_variables_initializer())
            for i in range(1, 4):
                session.run(add.op)
                assert session.run(total) == 2.0 * i * (1 << 20)
            # What was received is the receiver's own: neither side's later writes are seen by the other.
            session.run(keep.op)
            session.run(tf.assign_add(kept, tf.ones([1 << 20])).op)
            session.run(change.op)
            assert session.run(v[1]) == 6 and session.run(kept[0]) == 7 and session.run(v[0]) == 1


def test_status_shows_the_task_and_sigterm_ends_it(cluster):
    shown = weir("cluster", "status", *cluster.addresses["ps"])
    out, _ = shown.communicate(timeout=60)
    assert shown.returncode == 0 and "/job:ps/replica:0/task:0" in out
    assert cluster.kill("ps", 0, signal.SIGTERM) == 0
    gone = weir("cluster", "status", "--timeout", "2", *cluster.addresses["ps"])
    _, err = gone.communicate(timeout=60)
    assert gone.returncode == 1 and cluster.addresses["ps"][0] in err


def test_a_stopped_task_ends_steps_at_their_deadline(cluster):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.constant(1.0) + tf.placeholder_with_default(1.0, [])
        with tf.Session(cluster.target("worker", 0)) as session:
            assert session.run(v) == 2
            stop(cluster.tasks["ps", 0].pid)
            with pytest.raises(errors.DeadlineExceededError, match="(?s)/job:ps/replica:0/task:0"):
                session.run(v, options=tf.RunOptions(timeout_in_ms=500))
            os.kill(cluster.tasks["ps", 0].pid, signal.SIGCONT)
            assert session.run(v) == 2
