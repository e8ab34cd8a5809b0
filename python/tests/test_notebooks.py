import json
import os
import subprocess
import sys

import pytest

from weir import notebook_magics, notebooks


def _write(path, cells, **metadata):
    """A notebook file of code cells, with a text cell before them."""
    made = [{"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": []} for cell in cells]
    text = {"cell_type": "markdown", "source": ["# A notebook"]}
    path.write_text(json.dumps({"cells": [text, *made], "metadata": metadata, "nbformat": 4}))
    return str(path)


def _run(*args, cwd=None):
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(notebooks.__file__)))
    return subprocess.run(
        [sys.executable, "-m", "weir", *args], env=environment, cwd=cwd, capture_output=True, text=True, timeout=120
    )


def test_cells_run_in_order_in_the_folder_of_the_notebook_and_show_their_last_value(tmp_path):
    (tmp_path / "data.txt").write_text("seven")
    path = _write(tmp_path / "lab.ipynb", [
        "import tensorflow as tf\nx = tf.constant([1., 2.])",
        "sess = tf.InteractiveSession()\nx.eval().tolist()",
        "open('data.txt').read();",
        "print(open('data.txt').read())",
    ])
    done = _run("run", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1.0, 2.0]\nseven\n", "")


def test_an_error_names_the_cell_and_its_line_and_ends_the_run(tmp_path):
    path = _write(tmp_path / "lab.ipynb", [
        "print('first')",
        "import tensorflow as tf\n\nx = tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3]))",
        "print('never')",
    ])
    done = _run(path)
    assert (done.returncode, done.stdout) == (1, "first\n")
    assert 'lab.ipynb: cell 2", line 3, in <module>\n    x = tf.matmul(' in done.stderr


def test_a_syntax_error_waits_for_its_cell(tmp_path):
    done = _run(_write(tmp_path / "lab.ipynb", ["print('first')", "x = = 1"]))
    assert (done.returncode, done.stdout) == (1, "first\n")
    assert 'lab.ipynb: cell 2", line 1' in done.stderr


def test_one_cell_of_python2_makes_the_notebook_python2(tmp_path):
    cells = ["x = 7 / 2", "print 'x is', x", "from __future__ import division", "print 7 / 2"]
    assert _run(_write(tmp_path / "lab.ipynb", cells)).stdout == "x is 3\n3.5\n"


def test_a_kernel_of_python2_makes_the_notebook_python2(tmp_path):
    path = _write(tmp_path / "lab.ipynb", ["print(7 / 2)"], language_info={"version": "2.7.12"})
    assert _run(path).stdout == "3\n"


def test_notebooks_of_2014_have_worksheets():
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]}], "metadata": {}}
    assert notebooks.cells_of(json.dumps(old)) == (["x = 1\ny = 2"], "auto")


def test_a_file_that_is_no_notebook_says_so(tmp_path):
    path = tmp_path / "lab.ipynb"
    for text in ("import sys", "[1]", "{}", '{"cells": [1]}', '{"cells": [{"cell_type": "code"}]}'):
        path.write_text(text)
        done = _run(str(path))
        assert done.returncode == 2 and "lab.ipynb: not a notebook" in done.stderr, text


def test_commands_and_magics_run(tmp_path):
    path = _write(tmp_path / "lab.ipynb", [
        "%matplotlib inline\nn = 3\n!echo {n + 1} $n $HOME_OF_NOBODY\nlines = !printf 'a\\nb\\n'\nlines",
        "%%writefile made.txt\nfirst line",
        "%%bash\ncat made.txt",
        "%%time\nprint('timed')",
        "%wonder x",
    ])
    done = _run(path)
    assert done.stdout == "4 3\n['a', 'b']\nfirst line\ntimed\n"
    assert done.stderr == "weir: %wonder is left out (cell 5): only Jupyter has it\n"


@pytest.mark.parametrize("cell, python", [
    ("x = (7\n  % 3)", "x = (7\n  % 3)"),
    ("s = \"\"\"\n%time\n!ls\n\"\"\"", "s = \"\"\"\n%time\n!ls\n\"\"\""),
    ("x = 7 \\\n  % 3", "x = 7 \\\n  % 3"),
    ("a != b", "a != b"),
    ("x %= 3", "x %= 3"),
    ("tf.nn.relu?\nx = 1", "pass\nx = 1"),
    ("if a:\n    %time f(x)", "if a:\n    f(x)"),
    ("%timeit -n 10 -r 3 f(x)", "f(x)"),
    ("%%timeit -n 10\nf(x)", "\nf(x)"),
    ("!it's (odd\nx = 1", "get_ipython().system(\"it's (odd\")\nx = 1"),
    ("!a \\\n  b\nx = 1", "get_ipython().system('a b')\n\nx = 1"),
    ("x = %pwd", "x = get_ipython().run_line_magic('pwd', '')"),
])  # fmt: skip
def test_what_is_no_python_becomes_python(cell, python):
    assert notebook_magics.translate(cell) == python


def test_exported_scripts_find_get_ipython(tmp_path):
    script = tmp_path / "lab.py"
    script.write_text("get_ipython().magic(u'matplotlib inline')\nget_ipython().system(u'echo there')\n")
    assert _run(str(script)).stdout == "there\n"


def test_libraries_may_ask_to_be_called_after_cells():
    shell = notebook_magics.get_ipython()
    assert shell.events.register("post_execute", print) is None and shell.events.unregister("post_execute", print) is None
