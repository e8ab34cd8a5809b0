"""TensorBoard itself, in a browser, on a run that Weir wrote."""

import importlib.util
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

import weir as tf

SECONDS = 60  # for anything that TensorBoard does; it is slow to start on a busy machine


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    if importlib.util.find_spec("tensorboard") is None:
        pytest.skip("needs TensorBoard: pip install tensorboard")
    logdir = tmp_path_factory.mktemp("runs")
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        with tf.name_scope("my_layer"):
            w = tf.Variable(3.0, name="my_weight")
        loss = tf.square(w, name="my_loss_node")
        tf.summary.scalar("my_loss", loss)
        merged = tf.summary.merge_all()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        sess.run(tf.global_variables_initializer())
        with tf.summary.FileWriter(str(logdir / "my_run"), graph) as writer:
            for step in range(20):
                writer.add_summary(sess.run([merged, train])[0], step)
    log = logdir / "log.txt"
    # Port 0: the system gives a free one, and TensorBoard says which.
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host", "127.0.0.1", "--port", "0"]
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        yield _address(server, log)
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _address(server, log):
    """Where the server answers, with the run read."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:\d+/", log.read_text(errors="replace"))
        if found:
            try:
                with urllib.request.urlopen(found[0] + "data/plugin/scalars/tags", timeout=10) as answer:
                    if b"my_loss" in answer.read():
                        return found[0]
            except (urllib.error.URLError, OSError):
                pass
        time.sleep(0.2)
    raise AssertionError("TensorBoard does not show the run:\n" + log.read_text(errors="replace"))


# The page is made of custom elements, whose contents innerText and querySelector do not see.
ALL_TEXT = """(function text(node) {
  let all = node.nodeType === Node.TEXT_NODE ? node.data : "";
  if (node.shadowRoot) all += text(node.shadowRoot);
  if (node.contentDocument) all += text(node.contentDocument);
  for (const child of node.childNodes) if (!/^(STYLE|SCRIPT)$/.test(child.nodeName)) all += " " + text(child);
  return all;
})(document)"""


def wait_for_text(page, *parts):
    for part in parts:
        page.wait_for(f"{ALL_TEXT}.includes({part!r})", SECONDS)


def test_scalars_are_on_the_page(open_page, address):
    page = open_page(address + "#timeseries")
    wait_for_text(page, "my_run", "my_loss")


def test_the_graph_is_on_the_page(open_page, address):
    page = open_page(address + "#graphs")
    wait_for_text(page, "my_layer", "my_loss_node")
