import pathlib

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
def sess():
    with tf.Session() as session:
        yield session
