"""Training with parameter servers: real processes, some of which are killed and started again."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import weir as tf

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON_PATH = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
EXAMPLE = os.path.join(ROOT, "examples", "python", "mnist_replica.py")

# One variable that follows the global step: w == -step * 0.5 at every moment that is consistent.
PROGRAM = """
import sys, time
import tensorflow as tf
tf.logging.set_verbosity(tf.logging.INFO)
job, task, ps, workers, steps, folder, sync = sys.argv[1:8]
task, steps = int(task), int(steps)
cluster = tf.train.ClusterSpec({"ps": ps.split(","), "worker": workers.split(",")})
server = tf.train.Server(cluster, job_name=job, task_index=task)
if job == "ps":
    server.join()
with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % task, cluster=cluster)):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(w)
    optimizer = tf.train.GradientDescentOptimizer(0.5, use_locking=True)
    hooks = [tf.train.StopAtStepHook(last_step=steps)]
    if sync == "sync":
        optimizer = tf.train.SyncReplicasOptimizer(optimizer, cluster.num_tasks("worker"), cluster.num_tasks("worker"))
        hooks.append(optimizer.make_session_run_hook(task == 0))
    train = optimizer.minimize(loss, global_step=step)
config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % task])
last = 0
with tf.train.MonitoredTrainingSession(server.target, task == 0, folder, hooks=hooks, config=config,
                                       save_checkpoint_secs=None, save_checkpoint_steps=20) as session:
    while not session.should_stop():
        _, at = session.run([train, step])
        last = max(last, at)
        print("step", at, flush=True)
        time.sleep(0.005)
print("ended at", last, flush=True)
"""


def _ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for made in sockets:
        made.bind(("127.0.0.1", 0))
    ports = [made.getsockname()[1] for made in sockets]
    for made in sockets:
        made.close()
    return ports


class Cluster:
    """Tasks as processes; their output line by line."""

    def __init__(self, folder, servers, workers, steps, sync="async"):
        ports = [f"127.0.0.1:{port}" for port in _ports(servers + workers)]
        (folder / "program.py").write_text(PROGRAM)
        self._arguments = [",".join(ports[:servers]), ",".join(ports[servers:]), str(steps), str(folder / "model"), sync]
        self._program = str(folder / "program.py")
        self.output, self.processes = {}, {}
        for task in range(servers):
            self.start("ps", task)
        for task in range(workers):
            self.start("worker", task)

    def start(self, job, task):
        process = subprocess.Popen([sys.executable, "-m", "weir", self._program, job, str(task), *self._arguments],
                                   env=dict(os.environ, PYTHONPATH=PYTHON_PATH), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        lines = self.output.setdefault((job, task), [])
        self.processes[job, task] = process
        threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, "")), daemon=True).start()

    def kill(self, job, task):
        self.processes[job, task].send_signal(signal.SIGKILL)
        self.processes[job, task].wait()

    def step(self, task=0):
        """The last step that a worker has seen."""
        steps = [int(line.split()[1]) for line in list(self.output["worker", task]) if line.startswith("step ")]
        return steps[-1] if steps else 0

    def wait_for(self, condition, seconds=90):
        end = time.time() + seconds
        while not condition():
            assert time.time() < end, "".join(f"--- {who}\n" + "".join(lines[-15:]) for who, lines in self.output.items())
            time.sleep(0.02)

    def wait(self, task):
        process = self.processes["worker", task]
        self.wait_for(lambda: process.poll() is not None)
        assert process.returncode == 0, "".join(self.output["worker", task][-30:])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.kill()


def _saved(folder):
    reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(str(folder / "model")))
    return reader.get_tensor("w"), reader.get_tensor("global_step")


@pytest.mark.parametrize("servers,workers,sync", [(1, 2, "async"), (2, 2, "sync")])
def test_workers_train_together(tmp_path, servers, workers, sync):
    with Cluster(tmp_path, servers, workers, 60, sync) as cluster:
        for task in range(workers):
            cluster.wait(task)
    w, step = _saved(tmp_path)
    # Every step that was counted was applied, once; a worker may be in the middle of one when the chief saves.
    assert step >= 60 and abs(w[0] + 0.5 * step) <= 0.5 * workers, (w, step)
    assert any(name.startswith("events") for name in os.listdir(tmp_path / "model"))


def test_a_killed_worker_rejoins(tmp_path):
    with Cluster(tmp_path, 1, 2, 400) as cluster:
        cluster.wait_for(lambda: cluster.step(1) > 20)
        cluster.kill("worker", 1)
        before = cluster.step(0)
        cluster.wait_for(lambda: cluster.step(0) > before + 10)  # the chief goes on
        cluster.start("worker", 1)
        cluster.wait_for(lambda: cluster.step(1) > before)
        cluster.wait(0)
        cluster.wait(1)
        assert not any("step 1\n" == line for line in cluster.output["worker", 1][25:])
    assert _saved(tmp_path)[1] >= 400


def test_a_killed_server_comes_back_from_the_checkpoint(tmp_path):
    """tensorflow issues 7767 and 6780: all workers crashed."""
    with Cluster(tmp_path, 1, 2, 300) as cluster:
        cluster.wait_for(lambda: cluster.step(0) > 60 and cluster.step(1) > 60)
        cluster.kill("ps", 0)
        lost = max(cluster.step(0), cluster.step(1))
        time.sleep(0.3)
        cluster.start("ps", 0)
        cluster.wait_for(lambda: cluster.step(0) > lost)
        cluster.wait(0)
        cluster.wait(1)
        steps = [int(line.split()[1]) for line in cluster.output["worker", 0] if line.startswith("step ")]
    # At most one interval between checkpoints was lost, and a step's time at each end.
    fell = [(a, b) for a, b in zip(steps, steps[1:]) if b < a]
    assert all(a - b <= 20 + 10 for a, b in fell), fell
    w, step = _saved(tmp_path)
    assert step >= 300 and abs(w[0] + 0.5 * step) <= 1.0


def test_a_killed_chief_goes_on_with_what_the_servers_have(tmp_path):
    """tensorflow issue 13806: the others began anew with it, from zero or from the last checkpoint."""
    with Cluster(tmp_path, 1, 2, 300) as cluster:
        cluster.wait_for(lambda: cluster.step(0) > 60)
        cluster.kill("worker", 0)
        before = cluster.step(1)
        cluster.wait_for(lambda: cluster.step(1) > before + 50)  # more than an interval between checkpoints
        cluster.start("worker", 0)
        cluster.wait(0)
        cluster.wait(1)
        steps = [int(line.split()[1]) for line in cluster.output["worker", 1] if line.startswith("step ")]
    assert steps == sorted(steps), "what the other worker did without the chief was taken back"
    w, step = _saved(tmp_path)
    assert step >= 300 and abs(w[0] + 0.5 * step) <= 1.0


def test_the_example_learns_mnist(tmp_path):
    command = [sys.executable, "-m", "weir", "launch", "--ps", "1", "--workers", "2", EXAMPLE, "--steps=400",
               f"--data_dir={ROOT}/data/mnist", f"--checkpoint_dir={tmp_path}/model"]
    result = subprocess.run(command, env=dict(os.environ, PYTHONPATH=PYTHON_PATH), capture_output=True, text=True, timeout=170,
                            check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    assert float(re.search(r"accuracy (\d\.\d+)", result.stdout)[1]) > 0.9
    assert tf.train.latest_checkpoint(str(tmp_path / "model")) is not None


def test_replicas_in_one_graph():
    """One client builds a tower for each worker; the master cuts it."""
    workers, servers = tf.test.create_local_cluster(2, 1)
    try:
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                w = tf.Variable([1.0, 2.0])
            losses = []
            for task in range(2):
                with tf.device(f"/job:worker/task:{task}"):
                    losses.append(tf.reduce_sum(w * float(task + 1)))
            with tf.device("/job:ps/task:0"):
                train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.add_n(losses) / 2.0)
            with tf.Session(workers[1].target) as session:
                session.run(tf.global_variables_initializer())
                session.run(train)
                assert session.run(w).tolist() == [-0.5, 0.5]
    finally:
        for task in workers + servers:
            task.stop()


def test_synchronous_workers_drop_stale_gradients():
    """Three workers, two of whose gradients make a step: the third's comes too late."""
    workers, servers = tf.test.create_local_cluster(3, 2)
    sessions, steps, trains, variables = [], [], [], []
    try:
        for task, server in enumerate(workers):
            with tf.Graph().as_default() as graph:
                with tf.device("/job:ps/task:0"):
                    step = tf.Variable(0, name="global_step", trainable=False)
                    first = tf.Variable(0.0, name="first")
                with tf.device("/job:ps/task:1"):
                    rows = tf.Variable([[3.0], [4.0]], name="rows")
                with tf.device(f"/job:worker/task:{task}"):
                    gradient = tf.constant(0.1 + 0.2 * task)
                    slices = tf.IndexedSlices(tf.reshape(gradient, [1, 1]), tf.constant([1]), tf.constant([2, 1]))
                    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(2.0), 2, 3)
                    train = optimizer.apply_gradients([(gradient, first), (slices, rows)], global_step=step)
                    hook = optimizer.make_session_run_hook(task == 0, num_tokens=3)
                sessions.append(tf.train.MonitoredTrainingSession(server.target, task == 0, hooks=[hook]))
                steps.append(step), trains.append(train), variables.append((first, rows, optimizer._local_step))

        def value(task, what):
            return sessions[task].run(what)

        value(0, trains[0]), value(2, trains[2])  # the first tokens are there
        while value(1, steps[1]) != 1:
            time.sleep(0.01)
        assert abs(value(1, variables[1][0]) + 0.6) < 1e-6  # 2 * (0.1 + 0.5) / 2
        assert abs(value(1, variables[1][1])[1, 0] - 3.4) < 1e-6
        value(1, trains[1])  # of step 0: dropped
        for task in range(3):
            value(task, trains[task])  # those of the first tokens are of step 0 as well
        assert value(1, steps[1]) == 1 and value(1, variables[1][2]) == 1
        others = [threading.Thread(target=value, args=(task, trains[task])) for task in (0, 1)]
        for other in others:
            other.start()
        for other in others:
            other.join(60)
        assert value(1, steps[1]) == 2 and abs(value(1, variables[1][0]) + 1.0) < 1e-6
    finally:
        for session in reversed(sessions):
            session.close()
        for task in workers + servers:
            task.stop()
