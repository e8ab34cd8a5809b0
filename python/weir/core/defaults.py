"""The values of options that a program does not give. They are the C++ API's, and stand nowhere else."""

import re

EXTENSION = object()  # in the place of a default that the extension has


def of(function):
    """{name: value} of the options of a function of the extension."""
    text, _, values = function.__nb_signature__[0]
    return {name: values[int(index)] for name, index in re.findall(r"(\w+): [^=,]* = \\(\d+)", text)}


def from_extension(*functions, **others):
    """Gives a Python function the defaults that functions of the extension have for options of the same names, and
    ``others``: to parameters that are written without a default, or with ``EXTENSION`` behind one that has another."""
    known = {}
    for function in functions:
        known.update(function if isinstance(function, dict) else of(function))
    known.update(others)

    def fill(python_function):
        code, own = python_function.__code__, python_function.__defaults__ or ()
        names = code.co_varnames[:code.co_argcount]
        written = {name: value for name, value in zip(names[len(names) - len(own):], own) if value is not EXTENSION}
        filled = []
        for name in names:
            if name in written or name in known:
                filled.append(written[name] if name in written else known[name])
            elif filled:
                raise TypeError(f"{python_function.__qualname__}: there is no default for {name}")
        python_function.__defaults__ = tuple(filled)
        return python_function

    return fill
