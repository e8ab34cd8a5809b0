import pytest

import weir as tf


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
