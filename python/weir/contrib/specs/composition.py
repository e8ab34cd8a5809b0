"""Functions of one tensor that are put together with operators before there is a tensor: f | g, f + g, f * g, f ** 3."""

import importlib
import operator
import re

_printing = False
_FORBIDDEN = re.compile(r"\b(import|while|def|exec)\b")
_TEXT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


def check_keywords(spec):
    """Refuses a specification that contains more than assignments. Words inside its quoted texts are free."""
    word = _FORBIDDEN.search(_TEXT.sub("", spec))
    if word:
        raise ValueError(f"keyword '{word.group(1)}' found in spec")


def get_positional(args, kw, kw_overrides=False):
    """``(args, kw)`` with what is named ``_0``, ``_1``, ... put into those places, if they are free or ``kw_overrides``."""
    placed, named = list(args), {}
    for key, value in kw.items():
        if not key.startswith("_"):
            named[key] = value
            continue
        place = int(key[1:])
        placed.extend([None] * (place + 1 - len(placed)))
        if kw_overrides or placed[place] is None:
            placed[place] = value
    return placed, named


class Composable:
    """What the operators put together; ``funcall(tensor)`` applies it."""

    def __or__(self, following):
        return Composition(self, following)

    def __add__(self, other):
        return Operator(operator.add, self, other)

    def __mul__(self, other):
        return Operator(operator.mul, self, other)

    def __pow__(self, times):
        if times < 0:
            raise ValueError(f"a part of a network cannot be repeated {times} times")
        if times == 0:
            return Callable(lambda x: x)
        whole = self
        for _ in range(times - 1):
            whole = Composition(whole, self)
        return whole


class Callable(Composable):
    """A plain function of the tensor."""

    def __init__(self, f):
        self.f = f

    def funcall(self, x):
        return self.f(x)


class Operator(Composable):
    """An operator on what several functions give for the same tensor."""

    def __init__(self, op, *args):
        self.op, self.funs = op, args

    def funcall(self, x):
        return self.op(*[f.funcall(x) for f in self.funs])


class Function(Composable):
    """A function of a tensor and more: calls collect its further arguments, those of the last call in front."""

    def __init__(self, f, *args, **kw):
        if not callable(f):
            raise ValueError(f"{f}: is not callable")
        self.f, self.args, self.kw = f, list(args), kw

    def __call__(self, *args, **kw):
        return Function(self.f, *args, *self.args, **{**self.kw, **kw})

    def funcall(self, x):
        args, kw = get_positional(self.args, self.kw)
        if _printing:
            print("DEBUG:", self.f, x, args, kw)
        return self.f(x, *args, **kw)


class Composition(Composable):
    """``g`` of what ``f`` gives."""

    def __init__(self, f, g):
        self.f, self.g = f, g

    def funcall(self, x):
        return self.g.funcall(self.f.funcall(x))


def External(module_name, function_name):
    """A function of any module."""
    return Function(getattr(importlib.import_module(module_name), function_name))


def Import(statements):
    """The function that Python statements call ``f``."""
    made = {}
    exec(statements, made)  # the specification's author writes code either way
    if "f" not in made:
        raise ValueError(f'failed to define "f": {statements}')
    return Function(made["f"])


def debug(mode=True):
    """Prints each function with its arguments as it is applied."""
    global _printing
    _printing = mode
