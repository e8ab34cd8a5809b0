"""The type stubs say what is there."""

import ast
import os
import subprocess
import sys

import weir as tf

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _names(path):
    """What a stub defines or imports."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    names = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom) and node.module != "typing":
            names.update(alias.asname or alias.name for alias in node.names)
    return names


def test_stubs_name_what_the_modules_have(tmp_path):
    subprocess.run([sys.executable, os.path.join(ROOT, "tools", "stubs.py"), str(tmp_path)], check=True)
    for file, module in (("__init__", tf), ("nn/__init__", tf.nn), ("math", tf.math), ("train/__init__", tf.train)):
        names = _names(tmp_path / f"{file}.pyi")
        assert len(names) > 20
        assert [name for name in names - {"DType", "Tensor"} if not hasattr(module, name)] == []
    names = _names(tmp_path / "__init__.pyi")
    assert names >= {"Session", "Variable", "Tensor", "Graph", "placeholder", "matmul", "reshape", "float32", "nn", "train",
                     "losses", "get_variable", "variable_scope", "constant", "from_dlpack"}
    assert "cond" not in names or not hasattr(tf.cond, "_fail")


def test_the_package_is_marked_as_typed():
    assert os.path.exists(os.path.join(os.path.dirname(tf.__file__), "py.typed"))
