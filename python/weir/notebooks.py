"""Notebooks as programs: `weir run lab.ipynb` runs the code cells in order, in one process, as "Run All" does.

Each cell is compiled by itself under the name "lab.ipynb: cell 5", which tracebacks show with the cell's own lines. What is
IPython's and not Python's (%magic, !command, name?) is translated before; see notebook_magics.
"""

import ast
import json
import linecache
import os
import sys
import warnings

from weir import notebook_magics, old_generators, python2


def cell_name(path, number):
    """What tracebacks call the file of a cell."""
    return f"{path}: cell {number}"


class NotANotebook(ValueError):
    pass


def is_notebook(path):
    return path.endswith(".ipynb")


def cells_of(data):
    """The sources of the code cells of a notebook file, and the mode of python2.parse_source that its kernel asks for."""
    try:
        notebook = json.loads(data)
        # Until 2015 the cells were inside worksheets.
        sheets = notebook["worksheets"] if "worksheets" in notebook else [notebook]
        cells = [cell for sheet in sheets for cell in sheet["cells"] if cell["cell_type"] == "code"]
        sources = [cell["source"] if "source" in cell else cell["input"] for cell in cells]
    except (ValueError, KeyError, TypeError) as error:
        raise NotANotebook(f"not a notebook: {type(error).__name__}: {error}") from None
    sources = [source if isinstance(source, str) else "".join(source) for source in sources]
    metadata = notebook.get("metadata", {})
    language = metadata.get("language_info", {})
    kernel = metadata.get("kernelspec", {})
    is_old = str(language.get("version", "")).startswith("2.") or kernel.get("name") == "python2"
    return sources, "python2" if is_old else "auto"


class Notebook:
    """A notebook that is ready to run."""

    def __init__(self, data, path, mode):
        sources, own_mode = cells_of(data)
        self.path = path
        self._cells = [notebook_magics.translate(source) for source in sources]
        self._originals = sources
        self._futures = []  # what the cells so far have imported from __future__; it holds for the later ones
        self.mode = own_mode if mode == "auto" else mode
        if self.mode == "auto" and self._has_python2():
            self.mode = "python2"
        self.is_python2 = self.mode == "python2"

    def run(self, names):
        """Runs the cells with `names` as their globals. The value of a cell's last expression is printed."""
        notebook_magics.shell.names = names
        names["get_ipython"] = notebook_magics.get_ipython
        sys.displayhook = display_value
        for number, source in enumerate(self._cells, 1):
            file = cell_name(self.path, number)
            text = self._originals[number - 1]
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
            notebook_magics.shell.cell = number
            for code in self._compile(source, file):
                exec(code, names)

    def _has_python2(self):
        """Whether the cells, taken together, are Python 2."""
        together = ast.Module([], [])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for source in self._cells:
                try:
                    together.body += ast.parse(source).body
                except (SyntaxError, ValueError):
                    if python2.converts(source):
                        return True
        return python2.is_python2(together)

    def _compile(self, source, file):
        tree = self._parse(source, file)
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                self._futures += [alias.name for alias in node.names if alias.name not in self._futures]
        last = []
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
            last = [tree.body.pop()]
        flags = python2.future_flags(self._futures)
        yield compile(old_generators.restore(tree), file, "exec", flags, dont_inherit=True)
        if last:
            yield compile(ast.Interactive(last), file, "single", flags, dont_inherit=True)

    def _parse(self, source, file):
        if not self._futures:
            return python2.parse_source(source.encode(), file, self.mode)[0]
        # One line more at the top, which the numbers of the lines then leave out.
        source = f"from __future__ import {', '.join(self._futures)}\n{source}"
        try:
            tree, _ = python2.parse_source(source.encode(), file, self.mode)
        except SyntaxError as error:
            error.lineno -= 1
            raise
        del tree.body[0]
        return ast.increment_lineno(tree, -1)


def enter_folder(path):
    """Jupyter's kernels work in the folder of their notebook."""
    os.chdir(os.path.dirname(os.path.abspath(path)))


def display_value(value):
    """sys.displayhook of a notebook: prints a value, but not the handles that drawing functions leave."""
    if value is None:
        return
    kinds = value if isinstance(value, (list, tuple)) and value else [value]
    if all(type(part).__module__.partition(".")[0] == "matplotlib" for part in kinds):
        return
    sys.stdout.write(f"{value!r}\n")
