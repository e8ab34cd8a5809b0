"""The CIFAR-10 program, towers and `weir train`."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import weir as tf

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data", "cifar10")
PYTHON_PATH = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))  # of the package that is tested


def run(*args, code=0):
    """What `python -m weir ARGS` prints."""
    path = PYTHON_PATH + os.pathsep + os.environ.get("PYTHONPATH", "")
    process = subprocess.run([sys.executable, "-m", "weir", *args], capture_output=True, text=True, cwd=ROOT,
                             env=dict(os.environ, PYTHONPATH=path), timeout=300)
    assert process.returncode == code, process.stderr
    return process.stdout if code == 0 else process.stderr


def model(x, y):
    w = tf.get_variable("w", [3, 1], initializer=tf.constant_initializer(0.5))
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    return tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w) + b) - y))


def trained(towers, steps=3):
    with tf.Graph().as_default():
        x = tf.constant(np.linspace(-1, 1, 36).reshape(12, 3), tf.float32)
        y = tf.constant(np.linspace(1, 0, 12).reshape(12, 1), tf.float32)
        xs, ys = tf.split(x, towers), tf.split(y, towers)
        global_step = tf.train.get_or_create_global_step()
        built = tf.train.towers(tf.train.MomentumOptimizer(0.5, 0.9), ["/cpu:0"] * towers,
                                lambda tower: model(xs[tower.index], ys[tower.index]), global_step=global_step)
        assert [loss.name.split("/")[0] for loss in built.losses] == ["tower_%d" % i for i in range(towers)]
        assert len(tf.trainable_variables()) == 2 and not tf.get_variable_scope().reuse
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            loss, gradients = sess.run([built.loss, [g for g, _ in built.gradients]])
            for _ in range(steps):
                sess.run(built.train)
            assert sess.run(global_step) == steps
            return [loss] + gradients + sess.run(tf.trainable_variables())


def test_towers_train_as_one_model_with_the_joint_batch():
    for one, many in ((trained(1), trained(2)), (trained(1), trained(3))):
        for a, b in zip(one, many):
            np.testing.assert_allclose(a, b, atol=1e-6)


def test_variables_of_towers_stand_on_the_cpu():
    def replica(tower):
        free = tf.get_variable("free", [2])
        with tf.device("/gpu:7"):
            return tf.reduce_sum(free * tf.get_variable("placed", [2]), name="loss")

    built = tf.train.towers(tf.train.GradientDescentOptimizer(0.1), ["/gpu:0", "/gpu:1"], replica)
    free, placed = tf.trainable_variables()
    assert free.device == "/device:CPU:0" and placed.device == "/device:GPU:7"
    assert built.gradients[0][0].device == built.loss.device == "/device:CPU:0"


def test_average_gradients_of_rows_are_rows():
    w = tf.Variable([[1.0], [2.0], [3.0]])
    opt = tf.train.GradientDescentOptimizer(1.0)
    towers = [opt.compute_gradients(tf.reduce_sum(tf.gather(w, [0, 2]))),
              opt.compute_gradients(3 * tf.reduce_sum(tf.gather(w, [2])))]
    [(gradient, variable)] = tf.train.average_gradients(towers)
    assert isinstance(gradient, tf.IndexedSlices) and variable is w
    train = opt.apply_gradients([(gradient, variable)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run(w).ravel().tolist() == [0.5, 2.0, 1.0]


def test_towers_that_cannot_be_replicated_say_so():
    opt = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="no devices"):
        tf.train.towers(opt, [], lambda tower: None)
    with pytest.raises(ValueError, match="tower 0 gives no loss"):
        tf.train.towers(opt, [""], lambda tower: None)
    with pytest.raises(ValueError, match="tower 1 makes variables"):
        tf.train.towers(opt, ["", ""], lambda tower: tf.reduce_sum(tf.Variable([1.0])))


PROGRAM = os.path.join(ROOT, "examples", "python", "cifar10.py")
LOG_LINE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: step (\d+), loss = (\d+\.\d\d) \(\d+\.\d examples/sec; \d+\.\d{3} sec/batch\)"


def test_the_program_trains_goes_on_and_is_tested(tmp_path):
    flags = ["--data_dir", DATA, "--train_dir", str(tmp_path), "--batch_size", "8"]
    lines = run(PROGRAM, *flags, "--towers", "2", "--steps", "11").splitlines()
    steps = [re.fullmatch(LOG_LINE, line) for line in lines[:-1]]
    assert [step.group(1) for step in steps] == ["0", "10"], lines
    assert abs(float(steps[0].group(2)) - 4.67) < 0.1
    assert lines[-1].endswith("model.ckpt-11")
    lines = run(PROGRAM, *flags, "--towers", "2", "--steps", "12", "--eval_every", "12").splitlines()
    assert lines[0].endswith("goes on after step 11")
    precision = re.search(r"step 12, precision @ 1 = (\d\.\d{3})", lines[1]).group(1)
    assert re.search(r"precision @ 1 = (\d\.\d{3})", run(PROGRAM, *flags, "--eval")).group(1) == precision
    names = [name for name, _ in tf.train.list_variables(str(tmp_path))]
    assert "conv1/weights/ExponentialMovingAverage" in names and "local3/weights" in names
    assert not [name for name in names if re.match("tower_./conv1", name)]
    assert [name for name in os.listdir(tmp_path) if name.startswith("events.out.tfevents.")]


def test_the_program_gives_the_same_numbers_on_virtual_gpus_and_logical_cpus(tmp_path):
    tensors = []
    for i, devices in enumerate(([], ["--virtual-gpus", "2"], ["--cpus", "2"])):
        folder = str(tmp_path / str(i))
        run(PROGRAM, "--data_dir", DATA, "--train_dir", folder, "--batch_size", "8", "--towers", "2", "--steps", "2", *devices)
        tensors.append({name: tf.train.load_variable(folder, name) for name, _ in tf.train.list_variables(folder)})
    for others in tensors[1:]:
        assert others.keys() == tensors[0].keys()
        for name, value in tensors[0].items():
            np.testing.assert_allclose(others[name], value, atol=1e-6, err_msg=name)


def test_the_program_takes_the_original_archive(tmp_path):
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    rows = np.random.RandomState(1).randint(0, 10, [20, 3073]).astype(np.uint8)
    for name in ["data_batch_%d.bin" % i for i in range(1, 6)] + ["test_batch.bin"]:
        rows.tofile(folder / name)
    flags = ["--data_dir", str(tmp_path), "--train_dir", str(tmp_path / "run"), "--batch_size", "8"]
    assert run(PROGRAM, *flags, "--steps", "2").endswith("model.ckpt-2\n")
    assert "precision @ 1" in run(PROGRAM, *flags, "--eval")


def test_weir_train_ends_with_a_summary_and_goes_on(tmp_path):
    flags = ["train", "cifar10", "--data_dir", DATA, "--train_dir", str(tmp_path), "--batch_size", "8"]
    out = run(*flags, "--steps", "5")
    assert re.search(r"step 5/5  loss \d\.\d{3}  \d+ examples/s  0.0 s left", out), out
    for text in ("cifar10 begins", r"trained +5 steps in ", r"test accuracy +[01]\.\d{4}", r"model\.ckpt-5\n",
                 "tensorboard --logdir " + re.escape(str(tmp_path))):
        assert re.search(text, out), out
    assert "goes on after step 5" in run(*flags, "--steps", "6")
    assert "already, 6 steps" in run(*flags, "--steps", "6")


def test_weir_train_says_what_is_missing_or_wrong(tmp_path):
    missing = run("train", "cifar10", "--data_dir", str(tmp_path / "no"), code=1)
    assert str(tmp_path / "no") in missing and "train.tfrecord and test.tfrecord" in missing
    assert "the original archive" in missing
    missing = run("train", "mnist", "--data_dir", str(tmp_path / "no"), code=1)
    assert str(tmp_path / "no") in missing and "train-images-idx3-ubyte.gz" in missing
    assert "there is no model 'resnet'" in run("train", "resnet", code=2)
    assert "there is no flag --epochs" in run("train", "mnist", "--epochs", "3", code=2)
    assert "--train_dir" in run("train", "--help")
