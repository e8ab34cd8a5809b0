"""tensorflow.python.framework.combinations and test_combinations: tests that run for every combination of arguments.

Needs absl-py, whose parameterized.TestCase the test classes derive from.
"""

import contextlib
import functools
import inspect
import itertools
import types
import unittest
from collections import OrderedDict

from weir.core.graph import Graph


class ParameterModifier:
    """Changes an argument before a test gets it, or takes it away."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name=None):
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs, requested_parameters):
        """The arguments that are not to be passed as they are, by name."""
        return {}

    def __eq__(self, other):
        return self is other or type(self) is type(other) and self._parameter_name == other._parameter_name

    def __hash__(self):
        return hash((type(self), self._parameter_name))


class OptionalParameter(ParameterModifier):
    """An argument that tests may leave out of their parameters."""

    def modified_arguments(self, kwargs, requested_parameters):
        if self._parameter_name in requested_parameters:
            return {}
        return {self._parameter_name: ParameterModifier.DO_NOT_PASS_TO_THE_TEST}


class TestCombination:
    """What a kind of argument means: whether a test runs with it, and in what."""

    __test__ = False  # not a test, whatever its name

    def should_execute_combination(self, kwargs):
        """(whether to run, why not)"""
        return True, None

    def parameter_modifiers(self):
        return []

    def context_managers(self, kwargs):
        return []


class EagerGraphCombination(TestCombination):
    """``mode``: "graph", or "eager", which Weir has not."""

    def should_execute_combination(self, kwargs):
        mode = kwargs.pop("mode", None)
        if mode not in (None, "graph", "eager"):
            raise ValueError(f"'mode' has to be either 'eager' or 'graph' and not {mode}")
        return mode != "eager", "Weir has no eager execution."

    def parameter_modifiers(self):
        return [OptionalParameter("mode")]

    def context_managers(self, kwargs):
        return [Graph().as_default()] if kwargs.pop("mode", None) == "graph" else []


class TFVersionCombination(TestCombination):
    """``tf_api_version``: 1, or 2, whose behaviour Weir has not."""

    def should_execute_combination(self, kwargs):
        version = kwargs.pop("tf_api_version", None)
        return version in (None, 1), f"Skipping a TF{version} test when TF2 is not enabled."

    def parameter_modifiers(self):
        return [OptionalParameter("tf_api_version")]


class NamedObject:
    """Another object with a name for the names of tests."""

    def __init__(self, name, obj):
        self._name, self._obj = name, obj

    def __getattr__(self, name):
        return getattr(self._obj, name)

    def __call__(self, *args, **kwargs):
        return self._obj(*args, **kwargs)

    def __iter__(self):
        return iter(self._obj)

    def __repr__(self):
        return self._name


def combine(**kwargs):
    """Every choice of one value for each name, as dictionaries; what is no list is the only value."""
    names = sorted(kwargs)
    choices = [kwargs[name] if isinstance(kwargs[name], list) else [kwargs[name]] for name in names]
    return [OrderedDict(zip(names, chosen)) for chosen in itertools.product(*choices)]


def times(*combined):
    """Every combination of each list with every one of the others."""
    if not combined:
        return []
    result = []
    for parts in itertools.product(*combined):
        names = [name for part in parts for name in part]
        if len(names) != len(set(names)):
            raise ValueError(f"Keys need to not overlap: {names}")
        result.append(OrderedDict(sorted(item for part in parts for item in part.items())))
    return result


def _letters(text):
    return "".join(filter(str.isalnum, text))


def _name_of(value, index):
    if hasattr(value, "_name"):
        return str(value._name)
    return getattr(value, "__name__", str(value)) if not hasattr(value, "shape") else f"arg{index}"


def _named(combination):
    parts = [f"_{_letters(key)}_{_letters(_name_of(value, i))}" for i, (key, value) in enumerate(combination.items())]
    return OrderedDict(list(combination.items()) + [("testcase_name", f"_test{''.join(parts)}")])


def _checked(method, kinds):
    """The test with the arguments that it asks for, in the contexts that the combination wants."""

    @functools.wraps(method, assigned=("__name__", "__doc__", "__module__", "__qualname__"), updated=())
    def decorated(self, **kwargs):
        reasons = [why for runs, why in (kind.should_execute_combination(dict(kwargs)) for kind in kinds) if not runs]
        if reasons:
            self.skipTest("\n".join(f" - {reason}" for reason in reasons))
        parameters = [name for name in inspect.signature(method).parameters if name != "self"]
        passed = dict(kwargs)
        for modifier in {modifier for kind in kinds for modifier in kind.parameter_modifiers()}:
            for name, value in modifier.modified_arguments(dict(kwargs), parameters).items():
                if value is ParameterModifier.DO_NOT_PASS_TO_THE_TEST:
                    passed.pop(name, None)
                else:
                    passed[name] = value
        if set(parameters) - set(passed):
            raise ValueError("The test requires parameters whose arguments were not passed: "
                             f"{set(parameters) - set(passed)} .")
        if set(passed) - set(parameters):
            raise ValueError(f"The test does not take parameters that were passed : {set(passed) - set(parameters)} .")
        with contextlib.ExitStack() as stack:
            for manager in [manager for kind in kinds for manager in kind.context_managers(dict(kwargs))]:
                stack.enter_context(manager)
            method(self, **passed)

    del decorated.__wrapped__  # its parameters are its own
    return decorated


def _generate_with(combinations, kinds):
    from absl.testing import parameterized

    named = [_named(combination) for combination in combinations]

    def decorate(test):
        if not isinstance(test, type):
            return parameterized.named_parameters(*named)(_checked(test, kinds))
        for name, method in list(vars(test).items()):
            if name.startswith(unittest.TestLoader.testMethodPrefix) and isinstance(method, types.FunctionType):
                delattr(test, name)
                for arguments in named:
                    bound = functools.partialmethod(_checked(method, kinds), **{
                        key: value for key, value in arguments.items() if key != "testcase_name"})
                    setattr(test, name + arguments["testcase_name"], bound)
        return test

    return decorate


def generate_tests(combinations, test_combinations=()):
    """test_combinations.generate: ``test_combinations`` say what arguments mean."""
    return _generate_with(combinations, list(test_combinations))


def generate(combinations):
    """combinations.generate: a decorator of a test or of a class of tests."""
    return _generate_with(combinations, [EagerGraphCombination(), TFVersionCombination()])
