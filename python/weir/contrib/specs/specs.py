"""Networks from their specifications."""

import inspect
import math

from weir.contrib.specs import composition, params, words


def _public(*modules):
    return {name: value for module in modules for name, value in vars(module).items() if not name.startswith("_")}


def _evaluated(text, known, environment):
    """What the assignments of the text make of the environment's names. The text may call what ``known`` has."""
    composition.check_keywords(text)
    bindings = dict(environment or {})
    exec(text, dict(known), bindings)
    return bindings


def eval_params(params_text, environment=None):
    """The environment with the names that a text of parameters assigns."""
    return _evaluated(params_text, _public(math, params), environment)


def eval_spec(spec, environment=None):
    """The environment with all names that a specification assigns."""
    return _evaluated(spec, _public(composition, words), environment)


def create_net_fun(spec, environment=None):
    """The function of a tensor that the specification calls ``net``."""
    net = eval_spec(spec, environment).get("net")
    if net is None:
        raise ValueError(f"spec failed to create 'net': {spec}")
    return net.funcall


def create_net(spec, inputs, environment=None):
    """What the network of the specification gives for the inputs."""
    return create_net_fun(spec, environment)(inputs)


class LocalImport:
    """``with specs.ops:`` lets the module that says so use the language's words as its own globals."""

    def __init__(self, names):
        self._names = names if isinstance(names, dict) else _public(names)

    def __enter__(self):
        self._globals = inspect.currentframe().f_back.f_globals
        self._before = {name: self._globals[name] for name in self._names if name in self._globals}
        self._globals.update(self._names)

    def __exit__(self, kind, value, traceback):
        for name in self._names:
            if name in self._before:
                self._globals[name] = self._before[name]
            else:
                self._globals.pop(name, None)


ops = LocalImport(_public(composition, words))
