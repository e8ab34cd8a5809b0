"""A build without gRPC: everything but clusters works, and whoever asks for a server is told what is missing."""

import os
import pathlib
import subprocess
import sys

import pytest

import weir

PACKAGE = pathlib.Path(weir.__file__).parent


@pytest.fixture(scope="module")
def without_grpc(tmp_path_factory):
    """Runs a program, or a command of weir's, with a package that has everything but libweir_grpc."""
    folder = tmp_path_factory.mktemp("without_grpc")
    package = folder / "weir"
    package.mkdir()
    for entry in PACKAGE.iterdir():
        if entry.name not in ("lib", "__pycache__"):
            (package / entry.name).symlink_to(entry)

    def run(*words):
        # So that a package that is installed elsewhere in the same environment is not taken.
        environment = dict(os.environ, PYTHONPATH=str(folder), PYTHONNOUSERSITE="1")
        return subprocess.run([sys.executable, *words], env=environment, cwd=folder, capture_output=True, text=True, timeout=120)

    return run


ASK = """
import weir.compat.v1 as tf
from weir import errors
assert tf.Session().run(tf.constant(2.0) * 3) == 6
x = tf.constant(1.0)
for ask in (lambda: tf.train.Server.create_local_server(),
            lambda: tf.train.Server({"ps": ["localhost:1"], "worker": ["localhost:2"]}, "ps", 0),
            lambda: tf.Session("grpc://localhost:1").run(x),
            lambda: tf.Session.reset("grpc://localhost:1"),
            lambda: tf.train.MonitoredTrainingSession("grpc://localhost:1"),
            lambda: tf.test.create_local_cluster(1, 1)):
    try:
        ask()
        raise SystemExit("it was found")
    except errors.UnimplementedError as error:
        assert "libgrpc++-dev" in str(error) and "libweir_grpc.so" in str(error), error
print("told six times")
"""


def test_servers_and_sessions_on_them_say_what_is_missing(without_grpc):
    done = without_grpc("-c", ASK)
    assert done.stdout == "told six times\n", done.stderr


@pytest.mark.parametrize("words", [["server", "--cluster", "ps=localhost:1", "--job", "ps", "--task", "0"],
                                   ["cluster", "status", "localhost:1"]])
def test_commands_say_what_is_missing(without_grpc, words):
    done = without_grpc("-m", "weir", *words)
    assert done.returncode != 0 and "libgrpc++-dev" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
