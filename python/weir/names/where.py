"""`weir where tf.nn.conv2d`: where a name of TensorFlow is defined in Weir, as a file and a line."""

import functools
import inspect
import os
import re
import sys
from types import ModuleType

from weir.names import modules, tensorflow_alias
from weir.names.absent import is_absent

_USAGE = """\
usage: weir where NAME ...

Tells where names of TensorFlow, such as tf.nn.conv2d or tensorflow.python.ops.math_ops.cast, are defined: file and
line of the Python function or class, and of the C++ operation behind a function that is one operation. Says "absent"
of a name that TensorFlow has and Weir has not. The exit code is 0 when every name is there, 1 when one is absent, 2
when TensorFlow has no such name either.
"""

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SOURCES = os.path.join(os.path.dirname(os.path.dirname(_PACKAGE)), "src", "ops")  # unless the package is installed


def main(args):
    """The command; returns its exit code."""
    if not args or args[0] in ("--help", "-h"):
        (sys.stdout if args else sys.stderr).write(_USAGE)
        return 0 if args else 2
    return max(_report(name) for name in args)


def _report(name):
    public = "tf" + name[len("tensorflow"):] if name.startswith("tensorflow.") else name
    if not public.startswith("tf."):
        public = f"tf.{public}"
    try:
        value = tensorflow_alias.find(public)
    except (AttributeError, ImportError):
        print(f"{name}: no name of TensorFlow")
        return 2
    if is_absent(value):
        print(f"{name}: absent")
        return 1
    for line in [*_python_lines(public, value), *_operation_lines(value)]:
        print(f"{name}: {line}")
    return 0


def _python_lines(public, value):
    """["file:line"] of the definition in Python."""
    if isinstance(value, ModuleType):
        file = getattr(value, "__file__", None)
        return [f"{_shown(file)}:1" if file else f"a module of the names in {_shown(modules.table.FILE)}"]
    place = _place(public)
    module = sys.modules.get(place.partition(":")[0])
    found = _line_of(module, place.partition(":")[2]) if module is not None else None
    if found is None and hasattr(value, "_made"):
        # A row of the table of functions that are one operation.
        found = _line_of(sys.modules[type(value).__module__], f'"{value.__name__}"')
    if found is None:
        try:
            made = inspect.unwrap(value)
            lines, first = inspect.getsourcelines(made)
            decorators = next((i for i, line in enumerate(lines) if re.match(r"\s*(async def|def|class) ", line)), 0)
            found = inspect.getsourcefile(made), first + decorators
        except (TypeError, OSError):
            found = getattr(module, "__file__", None), 1
    return [f"{_shown(found[0])}:{found[1]}"] if found[0] else [f"defined in {place or type(value).__module__}"]


def _place(public):
    """The place of a name, or of the class that it is an attribute of with the attribute added; "" if it has none."""
    owner, _, last = public.rpartition(".")
    place = modules.table.place(public)
    if place is None and owner:
        place = _place(owner)
        place = f"{place}.{last}" if ":" in place else ""
    return place or ""


def _line_of(module, attribute):
    """(file, line) where the source of a module defines a name; None when it does so otherwise."""
    try:
        lines = inspect.getsource(module).split("\n")
    except (TypeError, OSError):
        return None
    if attribute.startswith('"'):
        number = next((i for i, line in enumerate(lines, 1) if f"{attribute}: " in line), None)
        return None if number is None else (module.__file__, number)
    first, *inner = attribute.split(".")
    name = re.escape(first)
    definition = re.compile(rf"(def|class) {name}\b|([\w, ]+, |[\w, =]+ = )?{name}( =|, [\w, ]+ =)")
    number = next((i for i, line in enumerate(lines, 1) if definition.match(line)), None)
    if number is not None and inner:
        wanted = re.compile(rf" +(def |class )?{re.escape(inner[0])}\b")
        number = next((i for i, line in enumerate(lines[number:], number + 1) if wanted.match(line)), number)
    return None if number is None else (module.__file__, number)


def _operation_lines(value):
    """["operation Relu, file:line"] for a function of one operation."""
    op = getattr(value, "_op", None)
    if not isinstance(op, str):
        return []
    found = operation_source(op)
    return [f"operation {op}" + (f", {_shown(found[0])}:{found[1]}" if found else "")]


def operation_source(op):
    """(file, line) of an operation's row in the C++ sources; None where there are no sources."""
    return _operation_sources().get(op)


@functools.cache
def _operation_sources():
    """{operation: (file, line)}: each is the first name in capitals of a function that gives its row, or one of a list of
    second names."""
    found = {}
    for folder, _, files in os.walk(_SOURCES):
        for file in files:
            if not file.endswith(".cc") or file.endswith("_test.cc"):
                continue
            path = os.path.join(folder, file)
            with open(path, encoding="utf-8") as source:
                text = source.read()
            for row in re.finditer(r"^OpDef \w+_op\(\) \{(.*\}( *//.*)?$|(?s:.*?)^\})|^    \"Experimental\w+\",$", text, re.MULTILINE):
                name = re.search(r'"(_?[A-Z]\w*)"', row.group())
                if name:
                    found.setdefault(name.group(1), (path, text.count("\n", 0, row.start()) + 1))
    return found


def _shown(path):
    """A path as it is shorter to read: below the folder that one is in, if it is there."""
    below = os.path.relpath(path)
    return path if below.startswith(os.pardir) else below
