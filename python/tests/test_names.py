"""The names that TensorFlow programs use: there, or honest about not being there."""

import ast
import importlib
import os
import pkgutil
import subprocess
import sys

import pytest

import weir as tf
from weir import _weir, names
from weir.names import table
from weir.ops import simple

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
    assert table[0].split() == ["area", "names", "present", "by", "use"] and table[-2].startswith("all ")
    assert subprocess.run(tool + ["--minimum", "100000"], capture_output=True, check=False).returncode != 0


def test_names_that_tensorflow_has_are_stand_ins_and_others_are_attribute_errors():
    assert names.is_absent(tf.contrib.tensor_forest) and names.is_absent(tf.contrib.tensor_forest.python.tensor_forest)
    for owner in (tf, tf.nn, tf.math, tf.contrib, tf.contrib.layers, tf.losses):
        with pytest.raises(AttributeError):
            owner.no_such_name
    assert not hasattr(tf, "Stack")


def test_functions_of_one_operation_have_their_operation():
    for rows in (simple.ARRAY, simple.MATH, simple.NN, simple.CONVOLUTIONS):
        for name, row in rows.items():
            assert _weir.op_spec(row if isinstance(row, str) else row[0]) is not None, name


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
    import tensorflow.models.no_such_model
except ImportError as error:
    print(error)
"""
    environment = dict(os.environ, PYTHONPATH=PYTHON_PATH)
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True,
                            check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout == ("Weir has no tensorflow.contrib.no_such_module yet\n"
                             "Weir has no tensorflow.models.no_such_model yet\n")


# The table, row by row.


def _is_pattern(name):
    return name.endswith("*")


def test_every_row_gives_what_it_says():
    """In a process of its own, because inner names are found through the alias `tensorflow`."""
    program = """
import weir
from weir import names
from weir.names import modules, table
weir.install_as_tensorflow()
count = 0
for name, place in table.rows():
    count += 1
    if name.endswith("*"):
        for space in place.split():
            modules.at(space)  # must exist
        continue
    value = names.find(name)
    if place:
        assert value is modules.at(place) and not names.is_absent(value), (name, place, value)
    else:
        assert names.is_absent(value) and value.__name__ == name, (name, value)
print(count)
"""
    environment = dict(os.environ, PYTHONPATH=PYTHON_PATH)
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True,
                            check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    assert int(result.stdout) == sum(1 for _ in table.rows()) > 3000


def test_the_table_is_well_formed():
    with open(table.FILE, encoding="ascii") as file:
        lines = [line.rstrip("\n") for line in file if line[0] not in "#\n"]
    found = [line.split("\t")[0] for line in lines]
    assert len(found) == len(set(found)), sorted({name for name in found if found.count(name) > 1})
    assert all(line.count("\t") == 1 and line.startswith("tf.") for line in lines)
    for module, rows in table.modules().items():
        assert not {"*", "**"} <= set(rows), f"{module}: one of * and ** says what other names are"


def test_every_name_of_the_programs_is_in_the_table():
    with open(os.path.join(ROOT, "tests", "data", "api.tsv"), encoding="utf-8") as file:
        symbols = [line.split("\t")[0] for line in file][1:]
    for symbol in symbols:
        assert table.place(symbol) is not None or _has_pattern(symbol), symbol


def _has_pattern(name):
    """Whether rows for a module or a pattern say where the name is."""
    owners = [name.rsplit(".", i)[0] for i in range(1, name.count("."))]
    return (name in table.modules() or "*" in table.modules().get(owners[0], ())
            or any(table.place(owner) is not None or "**" in table.modules().get(owner, ()) for owner in owners))


def test_a_folder_of_type_stubs_hides_no_module(tmp_path):
    """tools/stubs.py writes weir/contrib/distributions/bijectors.pyi beside the package."""
    os.makedirs(tmp_path / "linalg")
    (tmp_path / "linalg" / "stub.pyi").write_text("")
    program = ("import sys, weir; weir.__path__.insert(0, sys.argv[1]); "
               "import weir.linalg; print(weir.linalg.cholesky.__name__, weir.contrib.distributions.Normal.__name__)")
    result = subprocess.run([sys.executable, "-c", program, str(tmp_path)], env=dict(os.environ, PYTHONPATH=PYTHON_PATH),
                            capture_output=True, text=True, check=False)
    assert result.stdout == "cholesky Normal\n", result.stderr


def _definitions(module_name):
    """The public names that the source of a module defines, not those that it imports."""
    module = importlib.import_module(module_name)
    with open(module.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    imported = {alias.asname or alias.name.split(".")[0] for node in tree.body
                if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
    return {name for name in vars(module) if not name.startswith("_") and name not in imported
            and not isinstance(vars(module)[name], type(sys)) and not names.is_absent(vars(module)[name])}


def _of_other_places(module_name):
    """Names that a module keeps since it was asked for them, whose row says to look elsewhere."""
    rows = table.modules().get(table.public_name(module_name), {})
    places = [names.at(place) for place in rows.get("*", "").split()]
    kept = vars(importlib.import_module(module_name)).items()
    return {name for name, value in kept
            if name in rows and not rows[name].startswith(module_name + ":")
            or any(getattr(place, name, None) is value for place in places)}


# Modules that define what other modules of Weir use, not what programs do.
_PRIVATE = {"weir.binding", "weir.runner", "weir.python2", "weir.python2_runtime", "weir.notebook_display",
            "weir.notebook_magics", "weir.notebooks", "weir.old_libraries", "weir.old_media", "weir.old_numpy",
            "weir.old_generators", "weir.old_matplotlib", "weir.old_pandas", "weir.old_protos", "weir.old_scipy",
            "weir.old_sklearn", "weir.missing_packages", "weir.old_string_io", "weir.old_tensorflow", "weir.core.config",
            "weir.core.collection", "weir.core.dispatch", "weir.core.defaults", "weir.core.stack", "weir.core.op_functions",
            "weir.ops.simple", "weir.ops.operators",
            "weir.ops.composites", "weir.queues.arguments", "weir.train.sparse_batches", "weir.train.termination",
            "weir.train.wrapped_optimizer",
            "weir.download", "weir.data.arguments", "weir.data.function", "weir.data.generator", "weir.data.padding",
            "weir.estimator.head.checks", "weir.estimator.results"}


def test_what_the_package_defines_for_programs_is_in_the_table():
    """A definition that no row points at cannot be reached by programs, or only by accident."""
    places = {place for name, place in table.rows() if not _is_pattern(name)}
    spaces = {space for name, place in table.rows() if _is_pattern(name) for space in place.split()}
    orphans = []
    for info in pkgutil.walk_packages(tf.__path__, "weir."):
        name = info.name
        if name in spaces or name in _PRIVATE or name.startswith(("weir.names", "weir._")):
            continue
        if name in places and not any(place.startswith(name + ":") for place in places):
            continue  # the whole of one of TensorFlow's inner modules
        kept = _of_other_places(name)
        orphans += [f"{name}:{n}" for n in _definitions(name) - kept if f"{name}:{n}" not in places]
    # A message class that the module makes when it is first asked for, so that it is there after other tests.
    orphans = [orphan for orphan in orphans if orphan != "weir.contrib.tensorboard.plugins.projector:ProjectorConfig"]
    assert not orphans, f"give them rows in {os.path.basename(table.FILE)}, or a leading underscore: {sorted(orphans)}"


def test_no_module_hides_a_name_of_the_package_that_it_is_in():
    """Importing weir/train/global_step.py would make tf.train.global_step, a function, a module."""
    for info in pkgutil.walk_packages(tf.__path__, "weir."):
        place = table.place("tf" + info.name[len("weir"):])
        assert place in (None, info.name), (info.name, place)
