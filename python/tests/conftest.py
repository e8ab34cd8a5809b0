import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import weir as tf

# What needs servers is tested where gRPC was there when Weir was built; test_without_grpc.py has the rest.
HAS_GRPC = (pathlib.Path(tf.__file__).parent / "lib" / "libweir_grpc.so").exists()
if not HAS_GRPC:
    collect_ignore_glob = ["test_cluster*.py", "test_replicas.py"]


@pytest.fixture
def grpc():
    """For the tests of other files that need servers."""
    if not HAS_GRPC:
        pytest.skip("gRPC was not there when Weir was built")


@pytest.fixture(autouse=True)
def fresh_graph():
    """Each test begins with an empty default graph."""
    tf.reset_default_graph()
    yield
    tf.reset_default_graph()


@pytest.fixture
def late():
    """Calls a run that nothing ends but its deadline, and gives what is said of what it waits for.

    On a busy machine a short time can be up before the run waits, so it gets more and more.
    """
    def run(session, fetch):
        for timeout in (5, 50, 500, 5000):
            with pytest.raises(tf.errors.DeadlineExceededError) as caught:
                session.run(fetch, options=tf.RunOptions(timeout_in_ms=timeout))
            if "waits for" in str(caught.value):
                break
        return str(caught.value)

    return run


@pytest.fixture
def sess():
    with tf.Session() as session:
        yield session


@pytest.fixture
def weir(tmp_path):
    """weir(files, *args): writes the files and runs `python -m weir *args` among them."""

    def run(files, *args, stdin=None):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = text if isinstance(text, bytes) else textwrap.dedent(text).encode()
            path.write_bytes(data)
        command = [sys.executable, "-m", "weir", *args]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, input=stdin)

    return run


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Makes packages below site-packages/ installed ones."""
    paths = [str(tmp_path / "site-packages"), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
