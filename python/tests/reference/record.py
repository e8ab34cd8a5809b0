"""Runs the snippets of this folder and writes down what they show.

    python record.py tensorflow NAME.py NAME.json

With a Python that has TensorFlow 1.15.5 this records what test_reference.py compares Weir with. Works from Python 3.6.
"""

import importlib
import json
import re
import sys
import traceback
import warnings


def snippets(path):
    """[(name, code)] of a file in which lines "### name" begin a snippet."""
    with open(path) as file:
        parts = re.split(r"^###\s*(.*)$", file.read(), flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


class Shower:
    """The functions show() and fails() of a snippet; ``lines`` is what they were given, as text."""

    def __init__(self, tf, np):
        self.tf, self.np, self.lines = tf, np, []

    def show(self, *values):
        self.lines.append(" ".join(self._text(value) for value in values))

    def fails(self, function):
        try:
            result = function()
        except Exception as error:
            self.lines.append("raises " + type(error).__name__)
        else:
            self.lines.append("gives " + self._text(result))

    def _text(self, value):
        np = self.np
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array_text(np.asarray(value))
        if isinstance(value, self.tf.DType):
            return repr(value)
        if isinstance(value, dict):
            items = ", ".join("%r: %s" % (key, self._text(item)) for key, item in value.items())
            return "%s{%s}" % (type(value).__name__, items)
        if isinstance(value, (list, tuple)):
            items = ", ".join(self._text(item) for item in value)
            if hasattr(value, "_fields"):
                return "%s(%s)" % (type(value).__name__, items)
            return "[%s]" % items if isinstance(value, list) else "(%s)" % items
        return re.sub(r" at 0x[0-9a-f]+", "", repr(value))

    def _array_text(self, array):
        np = self.np
        if array.dtype.kind == "f":
            array = np.round(array.astype(np.float64), 3).astype(array.dtype)
            values = [float("%.4g" % item) + 0.0 for item in array.ravel().tolist()]
        else:
            values = array.ravel().tolist()
        return "%s%s%s" % (array.dtype, list(array.shape), values)


def run(tf, np, path):
    """{snippet: lines}."""
    results = {}
    for name, code in snippets(path):
        tf.reset_default_graph()
        shower = Shower(tf, np)
        names = {"tf": tf, "np": np, "show": shower.show, "fails": shower.fails}
        try:
            exec(compile(code, name, "exec"), names)
        except Exception as error:
            line = [frame.lineno for frame in traceback.extract_tb(sys.exc_info()[2]) if frame.filename == name]
            shower.lines.append("stops at line %s of the snippet: %s: %s" % (line, type(error).__name__, error))
        for value in list(names.values()):
            if isinstance(value, tf.InteractiveSession):
                value.close()
        results[name.strip()] = shower.lines
    return results


def main():
    module, source, target = sys.argv[1:]
    warnings.simplefilter("ignore")
    tf = importlib.import_module(module)
    with open(target, "w") as file:
        json.dump(run(tf, importlib.import_module("numpy"), source), file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
