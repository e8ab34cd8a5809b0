"""Strategies for several processes: each test starts them, with TF_CONFIG as TensorFlow's programs have it."""

import json
import os
import socket
import subprocess
import sys

import numpy as np
import pytest

import weir.compat.v1 as tf
from weir import errors

PYTHON_PATH = os.path.dirname(os.path.dirname(os.path.abspath(errors.__file__)))
PROGRAM = """
import sys
import numpy as np
import weir.compat.v1 as tf
strategy = {strategy}
print("replicas", strategy.num_replicas_in_sync)

def model_fn(features, labels, mode):
    predicted = tf.layers.dense(features, 1, kernel_initializer=tf.random_normal_initializer(), name="d")[:, 0]
    loss = tf.losses.mean_squared_error(labels, predicted)
    if mode != tf.estimator.ModeKeys.TRAIN:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = tf.train.AdamOptimizer(0.1)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, tf.train.get_global_step()))

def input_fn(input_context=None):
    x = np.random.RandomState(0).randn(64, 3).astype("f")
    data = tf.data.Dataset.from_tensor_slices((x, x.dot([1.0, -2.0, 0.5]).astype("f")))
    if input_context:
        print("part", input_context.input_pipeline_id, "of", input_context.num_input_pipelines)
        data = data.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return data.repeat().batch(8)

class Show(tf.train.SessionRunHook):
    def end(self, session):
        print("kernel", *session.run("d/kernel:0").ravel())

config = tf.estimator.RunConfig(sys.argv[1], train_distribute=strategy, experimental_max_worker_delay_secs=0)
print("chief", config.is_chief)
estimator = tf.estimator.Estimator(model_fn, config=config)
tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(input_fn, max_steps=100, hooks=[Show()]),
                                tf.estimator.EvalSpec(input_fn, steps=2))
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run(strategy, jobs, folder):
    """What each task that trains has printed, by its first words."""
    cluster = {job: [f"127.0.0.1:{free_port()}" for _ in range(count)] for job, count in jobs.items()}
    processes = {}
    try:
        for job, addresses in cluster.items():
            for task in range(len(addresses)):
                config = json.dumps({"cluster": cluster, "task": {"type": job, "index": task}})
                processes[job, task] = subprocess.Popen(
                    [sys.executable, "-c", PROGRAM.format(strategy=strategy), str(folder)], stdout=subprocess.PIPE, text=True,
                    env=dict(os.environ, PYTHONPATH=PYTHON_PATH, TF_CONFIG=config))
        printed = {}
        for name, process in processes.items():
            if name[0] != "ps":
                out = process.communicate(timeout=150)[0]
                assert process.returncode == 0, (name, out)
                printed[name] = dict(line.split(" ", 1) for line in out.splitlines() if " " in line)
        return printed
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()


@pytest.mark.parametrize("strategy", ["tf.distribute.experimental.MultiWorkerMirroredStrategy()",
                                      "tf.contrib.distribute.CollectiveAllReduceStrategy(num_gpus_per_worker=0)"])
def test_mirrored_workers_train_as_one(tmp_path, strategy):
    printed = run(strategy, {"worker": 2}, tmp_path)
    first, second = printed["worker", 0], printed["worker", 1]
    assert first["replicas"] == second["replicas"] == "2"
    assert (first["part"], second["part"]) == ("0 of 2", "1 of 2") and (first["chief"], second["chief"]) == ("True", "False")
    assert first["kernel"] == second["kernel"]
    np.testing.assert_allclose(np.float64(first["kernel"].split()), [1, -2, 0.5], atol=0.2)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("-100")


def test_workers_train_on_parameter_servers(tmp_path):
    printed = run("tf.distribute.experimental.ParameterServerStrategy()", {"chief": 1, "worker": 1, "ps": 2}, tmp_path)
    for name in printed:
        np.testing.assert_allclose(np.float64(printed[name]["kernel"].split()), [1, -2, 0.5], atol=0.3)
    assert int(tf.train.latest_checkpoint(str(tmp_path)).rsplit("-", 1)[1]) >= 100  # others may be a step ahead


def test_resolvers_know_the_cluster(monkeypatch):
    cluster = {"worker": ["a:1", "b:2"], "ps": ["c:3"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 1}}))
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    assert resolver.cluster_spec().as_dict() == cluster
    assert (resolver.task_type, resolver.task_id, resolver.master()) == ("worker", 1, "grpc://b:2")
    assert resolver.master("ps", 0) == "grpc://c:3"
    spec = tf.train.ClusterSpec(cluster)
    simple = tf.distribute.cluster_resolver.SimpleClusterResolver(spec, master="x:9", task_type="ps", task_id=0, rpc_layer="grpc")
    assert simple.cluster_spec() == spec and simple.master() == "grpc://x:9" and simple.master("worker", 0) == "grpc://a:1"
    with pytest.raises(TypeError):
        tf.distribute.cluster_resolver.SimpleClusterResolver(cluster)
