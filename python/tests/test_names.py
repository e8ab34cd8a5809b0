"""The names that TensorFlow programs use: there, or honest about not being there."""

import importlib
import os
import subprocess
import sys

import pytest

import weir as tf
from weir import _lazy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON_PATH = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))  # of the package that is tested
KNOWN_MISSING = os.path.join(ROOT, "tests", "data", "api-missing.txt")


def _coverage():
    """The rows of tools/api_coverage.py, from a process of its own: it installs the alias `tensorflow`."""
    program = ("import sys; sys.path.insert(0, 'tools'); import api_coverage as c\n"
               "for symbol, repos, present in c.coverage(): print(symbol, repos, int(present))")
    environment = dict(os.environ, PYTHONPATH=PYTHON_PATH)
    output = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True,
                            check=True).stdout
    return [(symbol, int(repos), present == "1") for symbol, repos, present in map(str.split, output.splitlines())]


def test_just_the_listed_names_that_ten_repositories_use_are_missing():
    """tests/data/api-missing.txt lists them; take a name out of it when it has come, so that it cannot go again."""
    with open(KNOWN_MISSING, encoding="utf-8") as file:
        known = {line.strip() for line in file if not line.startswith("#")}
    missing = {symbol for symbol, repos, present in _coverage() if repos >= 10 and not present}
    assert missing == known, f"gone: {sorted(missing - known)}, come: {sorted(known - missing)}"


def test_the_coverage_tool_prints_a_table_and_fails_below_a_minimum():
    tool = [sys.executable, os.path.join(ROOT, "tools", "api_coverage.py")]
    table = subprocess.run(tool, capture_output=True, text=True, check=True).stdout.splitlines()
    assert table[0].split() == ["area", "names", "present", "by", "use"] and table[-1].startswith("all")
    assert subprocess.run(tool + ["--minimum", "100000"], capture_output=True, check=False).returncode != 0


def test_a_name_that_is_not_there_says_so_when_it_is_used():
    absent = _lazy.Absent("tf.something")
    with pytest.raises(NotImplementedError, match="tf.something is not in Weir yet"):
        absent(1, key=2)
    with pytest.raises(NotImplementedError, match="tf.something.inner is not in Weir yet"):
        absent.inner()
    with pytest.raises(NotImplementedError):

        class _Derived(absent):
            pass

    with pytest.raises(NotImplementedError):
        with absent:
            pass
    assert _lazy.is_absent(absent)


def test_names_that_tensorflow_has_are_stand_ins_and_others_are_attribute_errors():
    assert _lazy.is_absent(tf.keras) and _lazy.is_absent(tf.contrib.tpu.TPUEstimator)
    for owner in (tf, tf.nn, tf.math, tf.contrib, tf.contrib.layers, tf.losses):
        with pytest.raises(AttributeError):
            owner.no_such_name
    assert not hasattr(tf, "Stack")


def test_functions_of_operations_that_weir_lacks_count_as_absent():
    function = importlib.import_module("weir.ops.simple")._Lazy("f", "NoSuchOperation", {})
    assert _lazy.is_absent(function)
    with pytest.raises(NotImplementedError, match="NoSuchOperation"):
        function(1)


def test_what_weir_imports_for_itself_is_not_public():
    for name in ("apply", "simple", "stack_module", "public_names", "dtypes_module", "op_functions", "np", "sys"):
        assert not hasattr(tf, name), name
    assert tf.math.__name__ == "weir.math"  # not Python's


def test_every_public_function_has_the_name_that_it_is_found_under():
    for name in ("reduce_sum", "reshape", "argmax", "softmax_cross_entropy_with_logits"):
        function = getattr(tf, name, None) or getattr(tf.nn, name)
        assert function.__name__ in (name, "arg")


def test_tensorflow_modules_are_found_through_the_alias():
    program = """
import weir
weir.install_as_tensorflow()
import tensorflow as tf
import tensorflow.compat.v1 as v1
from tensorflow.python.framework import ops, dtypes, tensor_shape
from tensorflow.python.ops import array_ops, math_ops, control_flow_ops, nn_ops
from tensorflow.python.util import nest
from tensorflow.contrib.layers import xavier_initializer
assert tf is weir and v1 is weir
assert ops.Graph is tf.Graph and dtypes.float32 is tf.float32 and tensor_shape.TensorShape is tf.TensorShape
assert array_ops.reshape is tf.reshape and math_ops.matmul is tf.matmul and nn_ops.relu is tf.nn.relu
assert nest.flatten([1, [2]]) == [1, 2]
try:
    import tensorflow.contrib.no_such_module
except ImportError as error:
    print(error)
try:
    import tensorflow.models.rnn.ptb.reader
except ImportError as error:
    print(error)
"""
    environment = dict(os.environ, PYTHONPATH=PYTHON_PATH)
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout == ("Weir has no tensorflow.contrib.no_such_module yet\n"
                             "Weir has no tensorflow.models.rnn.ptb yet\n")
