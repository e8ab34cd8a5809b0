"""`weir where NAME`: the file and line of a definition, "absent", or no such name."""

import os
import re
import subprocess
import sys

import weir as tf
from weir import _weir
from weir.names import where

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))))


def run(*names):
    command = [sys.executable, "-m", "weir", "where", *names]
    environment = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python"))
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return result.stdout.splitlines(), result.returncode


def lines_of(line):
    """The text of the line that an answer names."""
    file, number = re.search(r"([^ ]+):(\d+)$", line).groups()
    with open(os.path.join(ROOT, file), encoding="utf-8") as source:
        return source.read().splitlines()[int(number) - 1]


def test_a_function_a_class_a_constant_and_an_inner_name_are_found_at_their_definition():
    names = {"tf.nn.conv2d": "def conv2d(", "tf.train.AdamOptimizer": "class AdamOptimizer(",
             "tf.GraphKeys.WEIGHTS": "    WEIGHTS = ", "tensorflow.python.ops.math_ops.cast": "def cast(",
             "tf.nn.rnn": "def static_rnn(", "tf.Session.run": None, "tf.mul": "mul, sub, neg, inv = "}
    found, code = run(*names)
    assert code == 0
    for name, text in names.items():
        answer = next(line for line in found if line.startswith(f"{name}: "))
        assert text is None or lines_of(answer).startswith(text), answer


def test_a_function_of_one_operation_has_the_file_of_the_operation():
    found, code = run("tf.nn.relu")
    assert code == 0 and len(found) == 2
    assert '"relu": "Relu"' in lines_of(found[0])
    if os.path.isdir(os.path.join(ROOT, "src", "ops")):  # an installed package has no C++ sources
        assert found[1].startswith("tf.nn.relu: operation Relu, src/ops/nn/relu.cc:")
        assert "OpDef relu_op()" in lines_of(found[1])


def test_what_is_absent_and_what_is_nothing_have_exit_codes():
    assert run("tf.contrib.tensor_forest.ForestHParams") == (["tf.contrib.tensor_forest.ForestHParams: absent"], 1)
    assert run("tf.no_such_name") == (["tf.no_such_name: no name of TensorFlow"], 2)
    found, code = run("tf.nn.relu", "tf.keras.layers.Dense")
    assert len(found) == 3 and code == 1
    assert run()[1] == 2 and run("--help")[1] == 0


def test_every_operation_is_found_in_the_sources():
    if not os.path.isdir(os.path.join(ROOT, "src", "ops")):
        return
    missing = [op for op in _weir.op_names() if where.operation_source(op) is None]
    assert not missing
