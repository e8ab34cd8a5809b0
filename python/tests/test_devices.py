"""Devices as Python programs see them: names, scopes, functions, sessions."""

import os
import subprocess
import sys

import numpy as np
import pytest
import weir as tf
from weir import device_lib

HOST = "/job:localhost/replica:0/task:0"


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setenv("WEIR_VIRTUAL_GPUS", "2")


def test_device_spec_reads_merges_and_prints():
    spec = tf.DeviceSpec(job="worker", task=3, device_type="gpu", device_index="1")
    assert spec.to_string() == "/job:worker/task:3/device:GPU:1"
    assert (spec.job, spec.replica, spec.task, spec.device_type, spec.device_index) == ("worker", None, 3, "GPU", 1)
    assert tf.DeviceSpec.from_string("/cpu").to_string() == "/device:CPU:*"
    spec.merge_from(tf.DeviceSpec.from_string("/job:ps/cpu:0"))
    assert spec.to_string() == "/job:ps/task:3/device:CPU:0"
    assert spec == tf.DeviceSpec.from_string("/job:ps/task:3/cpu:0") and spec != "/job:ps"
    assert hash(spec) == hash(tf.DeviceSpec.from_string(spec.to_string()))
    assert spec.replace(task=None).to_string() == "/job:ps/device:CPU:0"
    with pytest.raises(ValueError, match="Unknown attribute: 'moon'"):
        tf.DeviceSpec.from_string("/moon:0")


def device(name=None):
    return tf.no_op().device


def test_scopes_nest_as_in_tensorflow():
    with tf.device("/job:worker/task:3"):
        with tf.device("/gpu:1"):
            assert device() == "/job:worker/task:3/device:GPU:1"
        with tf.device(""):  # says nothing
            assert device() == "/job:worker/task:3"
        with tf.device(None):  # forgets what was said
            assert device() == ""
        with tf.device(tf.DeviceSpec(device_type="GPU")):
            assert device() == "/job:worker/task:3/device:GPU:*"
        with tf.device(lambda op: "/cpu:0"):
            assert device() == "/job:worker/task:3/device:CPU:0"
        with tf.device("/gpu:0"):
            v = tf.Variable(1.0, name="v")
        assert [op.device for op in (v.op, v.initializer, v.value().op)] == ["/job:worker/task:3/device:GPU:0"] * 3
        with tf.colocate_with(v):
            assert device() == "/job:worker/task:3/device:GPU:0"
    assert device() == ""
    with pytest.raises(ValueError):
        with tf.device("/moon:0"):
            pass


def test_device_functions_see_the_operation_itself():
    seen = []

    def choose(op):
        seen.append((op.name, op.type, op.node_def.op, [t.name for t in op.inputs], op.device))
        return "/gpu:3" if op.type == "Const" else op.device

    with tf.device(choose):
        x = tf.constant(1.0, name="x")
        with tf.device("/cpu:0"):
            y = tf.add(x, x, name="y")
    assert seen == [("x", "Const", "Const", [], ""), ("y", "Add", "Add", ["x:0", "x:0"], "/device:CPU:0")]
    assert x.device == "/gpu:3" and y.device == "/device:CPU:0"
    with pytest.raises(TypeError):
        with tf.device(lambda op: None):
            tf.constant(1.0)
    with pytest.raises(KeyError, match="mine"):
        with tf.device(lambda op: {}["mine"]):
            tf.constant(1.0)


def test_replica_device_setter_places_what_is_not_made_yet():
    place = tf.train.replica_device_setter(2, worker_device="/job:worker/task:1")
    assert [place(tf.NodeDef(name=name, op=op)) for name, op in [("v", "VariableV2"), ("x", "Add"), ("w", "Variable")]] == [
        "/job:ps/task:0", "/job:worker/task:1", "/job:ps/task:1"]


def test_replica_device_setter_puts_variables_on_the_servers_in_turn():
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:1")):
        v, w, u = (tf.Variable(0.0, name=name) for name in "vwu")
        x = tf.constant(1.0)
    assert [item.device for item in (v, w, u)] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
    assert x.device == "/job:worker/task:1"
    assert tf.train.replica_device_setter() is None
    assert tf.train.replica_device_setter(cluster={"worker": ["a:1"]}) is None


def test_lists_what_there_is(two_gpus):
    assert [d.name for d in device_lib.list_local_devices()] == ["/device:CPU:0", "/device:GPU:0", "/device:GPU:1"]
    config = tf.ConfigProto(device_count={"CPU": 2, "GPU": 1})
    with tf.Session(config=config) as sess:
        devices = sess.list_devices()
    assert [d.name for d in devices] == [f"{HOST}/device:CPU:0", f"{HOST}/device:CPU:1", f"{HOST}/device:GPU:0"]
    assert devices[0].memory_limit_bytes == 256 << 20 and devices[2].device_type == "GPU"
    assert tf.test.is_gpu_available() and tf.test.gpu_device_name() == "/device:GPU:0"
    assert not tf.test.is_gpu_available(cuda_only=True)


def test_there_are_no_gpus_unless_asked_for(monkeypatch):
    monkeypatch.delenv("WEIR_VIRTUAL_GPUS", raising=False)
    assert not tf.test.is_gpu_available() and tf.test.gpu_device_name() == ""


def test_a_device_that_does_not_exist_is_an_error_unless_placement_is_soft(two_gpus):
    with tf.device("/gpu:2"):
        y = tf.placeholder_with_default([1.0], [1]) * 2.0
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="available devices are") as raised:
        sess.run(y)
    assert raised.value.op is not None
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        assert sess.run(y) == [2.0]


def test_gpu_memory_has_a_limit(two_gpus):
    gpu_options = tf.GPUOptions(per_process_gpu_memory_fraction=1e-6, allow_growth=True)
    with tf.device("/gpu:0"):
        v = tf.get_variable("large", [1 << 20])
    with tf.Session(config=tf.ConfigProto(gpu_options=gpu_options)) as sess:
        with pytest.raises(tf.errors.ResourceExhaustedError, match="GPU:0"):
            sess.run(v.initializer)


def test_towers_give_the_same_numbers_on_every_machine(two_gpus):
    def train(devices, config):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [8, 4])
            with tf.device("/cpu:0"):
                w = tf.Variable(np.linspace(-1, 1, 12).reshape(4, 3), dtype=tf.float32)
            optimizer, grads = tf.train.GradientDescentOptimizer(0.1), []
            for part, name in zip(tf.split(x, 2, 0), devices):
                with tf.device(name):
                    grads.append(optimizer.compute_gradients(tf.reduce_mean(tf.square(tf.matmul(part, w))), [w])[0])
            step = optimizer.apply_gradients([((grads[0][0] + grads[1][0]) / 2, w)])
            feed = {x: np.sin(np.arange(32)).reshape(8, 4)}
            with tf.Session(config=config) as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(5):
                    sess.run(step, feed)
                return sess.run(w)

    expected = train(["/cpu:0", "/cpu:0"], None)
    cpus = train(["/cpu:0", "/cpu:1"], tf.ConfigProto(device_count={"CPU": 2}))
    gpus = train(["/gpu:0", "/gpu:1"], None)
    np.testing.assert_allclose(cpus, expected, atol=1e-6)
    np.testing.assert_allclose(gpus, expected, atol=1e-6)


def test_the_trace_has_a_row_for_each_device(two_gpus):
    from weir.timeline import Timeline

    x = tf.placeholder(tf.float32, [16, 16])
    with tf.device("/gpu:0"):
        a = tf.matmul(x, x)
    with tf.device("/gpu:1"):
        b = tf.matmul(x, x, transpose_a=True)
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(a + b, {x: np.ones([16, 16])}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    devices = {d.device for d in metadata.step_stats.dev_stats}
    assert devices == {f"{HOST}/device:GPU:0", f"{HOST}/device:GPU:1"}
    assert "_Copy" in Timeline(metadata.step_stats).generate_chrome_trace_format()


def test_virtual_gpus_on_the_command_line(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\nprint(tf.test.gpu_device_name(), len(tf.Session().list_devices()))\n")
    package = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
    env = dict(os.environ, PYTHONPATH=package)

    def run(*options):
        return subprocess.run([sys.executable, "-m", "weir", *options, str(program)], env=env, capture_output=True,
                              text=True)

    assert run("--virtual-gpus", "3").stdout == "/device:GPU:0 4\n"
    assert run("--virtual-gpus=1").stdout == "/device:GPU:0 2\n"
    assert run().stdout == " 1\n"
    bad = run("--virtual-gpus", "many")
    assert bad.returncode == 2 and "--virtual-gpus wants a number" in bad.stderr


def test_clusters_tell_the_device_setter_how_many_servers_there_are():
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:1"], "worker": {3: "c:1"}})
    assert cluster.jobs == ["ps", "worker"] and cluster.num_tasks("ps") == 2
    assert cluster.as_dict() == {"ps": ["a:1", "b:1"], "worker": {3: "c:1"}}
    assert cluster.task_address("worker", 3) == "c:1" and cluster.job_tasks("worker") == [None, None, None, "c:1"]
    assert tf.train.ClusterSpec(cluster.as_cluster_def()) == cluster == tf.train.ClusterSpec(cluster.as_dict())
    with pytest.raises(ValueError, match="No such job in cluster: 'moon'"):
        cluster.num_tasks("moon")
    for given in (cluster, cluster.as_dict(), cluster.as_cluster_def()):
        with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(cluster=given)):
            devices = [tf.Variable(1.0).device for _ in range(3)]
        assert devices == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]


def test_colocation_can_leave_what_is_around_aside():
    with tf.Graph().as_default():
        a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        with tf.colocate_with(a):
            with tf.colocate_with(b, ignore_existing=True):
                c = tf.constant(3.0)
            with tf.colocate_with(None, ignore_existing=True):
                d = tf.constant(4.0, name="d")
            e = tf.constant(5.0)
        with pytest.raises(ValueError, match="ignore_existing is not True"):
            tf.colocate_with(None)
    assert [t.op.colocation_groups() for t in (c, d, e)] == [[b"loc:@b"], [b"loc:@d"], [b"loc:@a"]]


@pytest.mark.parametrize("colocated", [False, True])
def test_gradients_of_loops_stand_beside_what_they_are_of(colocated):
    with tf.Graph().as_default() as graph:
        v = tf.constant(2.0)

        def body(x):
            with tf.device("/cpu:0"):
                return tf.square(x)

        loop = tf.while_loop(lambda x: x < 100.0, body, [v])
        gradient = tf.gradients(loop, v, colocate_gradients_with_ops=colocated)[0]
        beside = {op.name.rpartition("while/")[2] for op in graph.get_operations() if op.device == "/device:CPU:0"}
        assert beside == ({"Square", "Square_grad/Const", "Square_grad/Mul", "Square_grad/Mul_1"} if colocated
                          else {"Square"})
        with tf.Session() as session:
            assert session.run(gradient) == 1024


def test_what_a_branch_did_not_compute_is_not_copied(two_gpus):
    pred, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [None])
    with tf.device("/gpu:0"):
        y = tf.cond(pred, lambda: tf.reduce_sum(tf.square(tf.boolean_mask(x, x > 1.0))), lambda: tf.reduce_sum(x))
    with tf.device("/gpu:1"):
        gradient = tf.gradients(y, x)[0]
    with tf.Session() as session:
        assert session.run(gradient, {pred: False, x: [1.0, 2.0, 3.0]}).tolist() == [1, 1, 1]
        assert session.run(gradient, {pred: True, x: [1.0, 2.0, 3.0]}).tolist() == [0, 4, 6]
