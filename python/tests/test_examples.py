"""The programs of examples/python run on Weir and print what they should."""

import os
import re
import signal
import subprocess
import sys
import time

import weir

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MNIST = os.path.join(ROOT, "data", "mnist")
PYTHON_PATH = os.path.dirname(os.path.dirname(os.path.abspath(weir.__file__)))  # of the package that is tested


def start(program, *args, options=()):
    command = [sys.executable, "-m", "weir", *options, os.path.join(ROOT, "examples", "python", program), *args]
    path = PYTHON_PATH + os.pathsep + os.environ.get("PYTHONPATH", "")
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
                            env=dict(os.environ, PYTHONPATH=path, PYTHONUNBUFFERED="1"))


def run(program, *args, options=(), stderr=None):
    """The lines that a program prints; it must end well. Lines of its standard error are added to ``stderr``."""
    process = start(program, *args, options=options)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    if stderr is not None:
        stderr += err.splitlines()
    return out.splitlines()


def number_after(word, line):
    return float(re.search(re.escape(word) + r"\D*?(-?\d+\.?\d*)", line).group(1))


def test_placeholders():
    assert run("placeholders.py") == [
        "3 + 4.5 = 7.5", "[1, 3] + [2, 4] = [3.0, 7.0]", "6 + 7 = 13, 6 * 7 = 42", "with the sum replaced: 42",
        "b was not fed"]


def test_counter():
    assert run("counter.py") == ["not initialised yet", "0", "1", "2", "3"]


def test_sharing():
    lines = run("sharing.py")
    assert lines[:2] == ["['net/weights:0']", "net/MatMul:0 net_1/MatMul:0 net_2/MatMul:0"]
    assert lines[2:4] == ["ValueError names the variable: True"] * 2
    assert lines[4:] == ["[[3.0, 3.0]]", "[[6.0, 6.0]]", "[[9.0, 9.0]]"]


def test_devices():
    log = []
    assert run("devices.py", options=["--virtual-gpus", "2"], stderr=log) == [
        "/device:CPU:0", "/device:GPU:0", "/device:GPU:1",
        "a: /device:CPU:0", "c: /job:localhost/task:0/device:GPU:0", "d: /job:localhost/task:0/device:GPU:1",
        "largest: /cpu:0", "e: /gpu:1", "f: anywhere",
        "c = [[22.0, 28.0], [49.0, 64.0]]", "f = -298",
        "there is no /device:GPU:7: True", "somewhere else g = 1"]
    assert log[0] == "Device mapping:"
    host = "/job:localhost/replica:0/task:0/device:"
    for line in (f"c: (MatMul): {host}GPU:0", f"d: (MatMul): {host}GPU:1", f"largest: (Max): {host}CPU:0",
                 f"f: (Neg): {host}GPU:0", f"a: (Placeholder): {host}CPU:0"):
        assert log.count(line) == 1, log


def test_matpow():
    assert run("matpow.py", "--size=100", "--runs=2")[-1] == "the sums agree: True"
    gpus = run("matpow.py", "--size=100", "--runs=2", "--devices=/gpu:0,/gpu:1", options=["--virtual-gpus=2"])
    assert [line.split(":")[0] for line in gpus] == ["one device", "two devices", "the sums agree"]


def test_linear_prints_what_tensorflow_prints_and_writes_events(tmp_path):
    lines = run("linear.py", str(tmp_path))
    assert lines[0] == "step  5  cost 0.20033"  # of TensorFlow 1.15
    assert lines[-1].startswith("W = ") and abs(number_after("W = ", lines[-1]) - 2) < 0.2
    assert [name for name in os.listdir(tmp_path) if name.startswith("events.out.tfevents.")]


def test_logistic_learns():
    assert number_after("accuracy", run("logistic.py", MNIST)[-1]) > 0.9


def test_dense_network_learns_and_writes_events(tmp_path):
    assert number_after("accuracy", run("mnist_dense.py", MNIST, str(tmp_path))[-1]) > 0.91
    assert [name for name in os.listdir(tmp_path) if name.startswith("events.out.tfevents.")]


def test_convnet_learns():
    lines = run("mnist_convnet.py", MNIST, "50")
    assert number_after("test accuracy", lines[-1]) > 0.6


def test_sequence_autoencoder_writes_what_it_read():
    assert number_after("", run("sequence_autoencoder.py")[-1]) >= 9


def test_char_rnn_learns_letters():
    lines = run("char_rnn.py", os.path.join(ROOT, "LICENSE"), "60")
    assert number_after("loss", lines[0]) < 2.9  # of 73 letters: 4.3 at the beginning
    assert lines[1].startswith("The ")


def test_language_model_learns_the_grammar():
    assert number_after("validation perplexity", run("language_model.py", "1")[-1]) < 4.5


def test_translation_finds_words_by_attention_and_beam():
    assert number_after("", run("translation.py", "300")[-1]) > 100


def test_word2vec_finds_words_of_a_kind():
    assert number_after("", run("word2vec.py")[-1]) >= 12


def test_variational_autoencoder_learns_and_draws(tmp_path):
    lines = run("vae.py", MNIST, "100", str(tmp_path / "digits.pgm"))
    assert number_after("reconstruction", lines[-1]) < 220  # 543 at the beginning
    assert (tmp_path / "digits.pgm").stat().st_size == 112 * 112 + 15


def test_dcgan_trains_both_networks(tmp_path):
    lines = [line for line in run("dcgan.py", MNIST, "5", str(tmp_path / "digits.pgm")) if line.startswith("step")]
    assert lines[0].startswith("step 5  discriminator ") and (tmp_path / "digits.pgm").exists()


def test_show_and_tell_writes_captions(tmp_path):
    lines = [line for line in run("show_and_tell.py", MNIST, "20", str(tmp_path)) if not line.startswith("Extracting")]
    assert number_after("loss", lines[0]) < 2.5
    assert lines[1].startswith("captions of unseen pictures") and (tmp_path / "picture7.png").exists()


def test_resume_goes_on(tmp_path):
    first = run("resume.py", str(tmp_path), "10")
    # As TensorFlow 1.15 prints it.
    assert first[-3:-1] == ["step 5  loss 0.65211  model.ckpt-5", "step 10  loss 0.53801  model.ckpt-10"]
    second = run("resume.py", str(tmp_path), "20")
    assert second[0] == "goes on after step 10"
    assert second[-2:] == ["step 20  loss 0.40077  model.ckpt-20", "w = 1.6724, b = -1.6985"]


def test_resume_goes_on_after_it_was_killed(tmp_path):
    process = start("resume.py", str(tmp_path), "100000000")
    deadline = time.monotonic() + 30
    while not (tmp_path / "model.ckpt-50.index").exists() and not any(
            int(name.split("-")[1].split(".")[0]) > 50 for name in os.listdir(tmp_path) if name.endswith(".index")):
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()[1]
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL
    printed = [int(number_after("step", line)) for line in out.splitlines() if line.startswith("step")]

    lines = run("resume.py", str(tmp_path), "1")
    restored = int(number_after("goes on after step", lines[0]))
    # What was said to be saved is there; at most the one that was being written may be missing or complete.
    assert restored % 5 == 0 and printed[-1] <= restored <= printed[-1] + 5
    assert run("resume.py", str(tmp_path), str(restored + 10))[-2].startswith(f"step {restored + 10} ")
