"""What exists takes TensorFlow's arguments: by their names, and by position in TensorFlow's order.

tests/data/api.tsv and methods.tsv have the signatures of TensorFlow 1.15.5, or of the newest release that has the name.
"""

import ast
import inspect
import os
import sys

import pytest

from weir.names import is_absent, tensorflow_alias

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _split(text):
    """The parameters of a signature, "x" and "axis=None" of "(x, axis=None)"."""
    if not text.startswith("("):
        return []
    parts, depth, quote, part = [], 0, None, ""
    for c in text[1:text.rindex(")")]:
        if quote:
            quote = None if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        if c == "," and not depth and not quote:
            parts.append(part)
            part = ""
        else:
            part += c
    return [part.strip() for part in (*parts, part) if part.strip()]


def _parameters(text):
    """The names of a signature's parameters."""
    names = [part.split("=")[0].strip() for part in _split(text)]
    return [name for name in names if not name.startswith("*") and name not in ("/", "self", "cls", "args", "kwargs")]


def _rows(file):
    with open(os.path.join(ROOT, "tests", "data", file), encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines][1:]


def _api():
    """(name, signature) of functions and classes."""
    for name, _, _, kind, *signatures in _rows("api.tsv"):
        known = [text for text in signatures if text.startswith("(")]
        if kind in ("function", "class") and known:
            yield name, known[-1]


def _found(name):
    try:
        value = tensorflow_alias.find(name)
    except (AttributeError, ImportError):
        return None
    return None if is_absent(value) else value


def _own(value):
    """(names in order, whether any name is taken) of a function or a class; None for what has no signature."""
    try:
        given = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    names = [p.name for p in given if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in ("self", "cls")]
    return names, any(p.kind == p.VAR_KEYWORD for p in given)


def _differences(value, signature):
    own = _own(value)
    if own is None:
        return []
    names, any_name = own
    wanted = _parameters(signature)
    missing = [name for name in wanted if name not in names and not any_name]
    shared = [name for name in names if name in wanted]
    if not missing and shared != [name for name in wanted if name in names]:
        return [f"order {shared}"]
    return missing


@pytest.fixture(autouse=True, scope="module")
def _alias():
    """The names as programs see them, without keeping `tensorflow` for other tests."""
    before = set(sys.modules)
    tensorflow_alias.install()
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "tensorflow":
            del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not tensorflow_alias._Finder]


def test_functions_and_classes_take_tensorflows_arguments():
    checked, wrong = 0, {}
    for name, signature in _api():
        value = _found(name)
        if value is None:
            continue
        checked += 1
        differences = _differences(value, signature)
        if differences:
            wrong[name] = differences
    assert checked > 450 and not wrong


# Defaults that are others: a mark of what was not given, where another argument excludes it, and those of another release.
_OTHER_DEFAULTS = {("tf.contrib.learn.RunConfig", "save_checkpoints_secs"),
                   ("tf.contrib.learn.estimators.RunConfig", "save_checkpoints_secs"),
                   ("tf.contrib.layers.batch_norm", "fused"), ("tf.contrib.layers.embedding_column", "combiner")}


def _has_default(parameter, text):
    try:
        wanted = ast.literal_eval(text)
    except (SyntaxError, ValueError):  # an object: what it shows, unless that is its address
        return text.startswith("<") or repr(parameter.default) == text
    return parameter.default == wanted or getattr(parameter.default, "name", None) == wanted


def test_defaults_are_tensorflows():
    checked, wrong = 0, []
    for name, signature in _api():
        try:
            given = inspect.signature(_found(name)).parameters
        except (TypeError, ValueError):
            continue
        for part in _split(signature):
            parameter, given_one, default = part.partition("=")
            if not given_one or parameter.strip() not in given:
                continue
            checked += 1
            if not _has_default(given[parameter.strip()], default.strip()):
                wrong.append((name, parameter.strip()))
    assert checked > 1500 and set(wrong) <= _OTHER_DEFAULTS


# Methods that Weir does not have: those of Keras' layers, which stand below TensorFlow 1.15's, and a few others.
_OF_KERAS = {"add_metric", "compute_output_signature", "dynamic", "get_input_mask_at", "get_output_mask_at",
             "inbound_nodes", "input_mask", "input_spec", "metrics", "name_scope", "outbound_nodes", "output_mask",
             "submodules", "with_name_scope"}
_MISSING = {
    "tf.Variable": {"aggregation", "batch_scatter_update", "experimental_ref", "gather_nd", "scatter_nd_add",
                    "scatter_nd_sub", "scatter_nd_update", "synchronization"},
    "tf.Tensor": {"experimental_ref"},
    "tf.contrib.training.HParams": {"from_proto", "to_proto"},
    "tf.test.TestCase": {"assertCommandFails", "assertCommandSucceeds", "assertUrlEqual", "captureWritesToStream",
                         "tempfile_cleanup"},
    "tf.test.Benchmark": {"evaluate", "is_abstract"},
}
# Parameters that unittest, Keras' wrappers or an unused argument name otherwise.
_OTHER_NAMES = {"tf.test.TestCase.assertDictEqual", "tf.test.TestCase.fail", "tf.nn.rnn_cell.DropoutWrapper.from_config",
                "tf.test.Benchmark.report_benchmark", "tf.test.Benchmark.run_op_benchmark"}


def test_methods_are_there_and_take_tensorflows_arguments():
    checked, missing, wrong = 0, [], {}
    for name, signature in _rows("methods.tsv"):
        owner, _, method = name.rpartition(".")
        cls = _found(owner)
        if not isinstance(cls, type) or hasattr(cls, "DESCRIPTOR"):  # messages have fields, which objects alone show
            continue
        if not hasattr(cls, method):
            if method not in _OF_KERAS | _MISSING.get(owner, set()):
                missing.append(name)
            continue
        checked += 1
        member = inspect.getattr_static(cls, method)
        function = inspect.isfunction(member) or isinstance(member, (classmethod, staticmethod))
        if signature.startswith("(") and function and method != "build" and name not in _OTHER_NAMES:
            differences = _differences(getattr(cls, method), signature)
            if differences:
                wrong[name] = differences
    assert checked > 1500 and not missing and not wrong
