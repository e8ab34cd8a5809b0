"""Modules whose names come from the table.

`weir.math` and its like have no file: their names are defined elsewhere (tf.math.abs in weir/ops/math_ops.py), and the
table makes the module. A module that has a file, and names that are defined in others or absent, ends with
``__getattr__, __dir__ = names.namespace(__name__)``. Either way a name is imported when it is first asked for.
"""

import importlib
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from weir.names import table
from weir.names.absent import Absent, advice, is_absent

_NOTHING = object()
_made_modules = {}


def at(place):
    """What a row points at: "weir.ops.nn_ops:relu", "weir.core.graph:GraphKeys.WEIGHTS", or a module, "weir.nn"."""
    if place.startswith("tf."):
        return _made(place)
    module, _, attributes = place.partition(":")
    value = importlib.import_module(module)
    for attribute in attributes.split(".") if attributes else ():
        value = getattr(value, attribute)
    return value


def member(module, name):
    """What ``name`` is in a module of TensorFlow ("tf.nn"); AttributeError when TensorFlow has no such name there."""
    full = f"{module}.{name}"
    rows = table.modules().get(module, {})
    place = rows.get(name)
    if place is not None:
        return at(place) if place else Absent(full)
    if full in table.modules():  # no row of its own, but rows below it
        return _made(full)
    if "*" in rows:
        return _search(rows["*"].split(), name, full)
    places = _places_above(module)
    if places is None:
        raise AttributeError(f"Weir has no tensorflow{full[len('tf'):]} yet{advice(full)}")
    if not places:
        return Absent(full)
    if "**" in rows:
        return _made(full)
    # tensorflow.contrib.learn.python.learn.preprocessing.text has what weir.contrib.learn.text has, if there is such a
    # module, what weir.contrib.learn.preprocessing has, and what weir.contrib.learn has.
    for place in places:
        owner = at(place)
        for part in reversed(module.rpartition(".python.")[2].split(".")):
            inner = None if part == "python" else getattr(owner, part, None)
            if isinstance(inner, ModuleType) and hasattr(inner, name):
                return getattr(inner, name)
    return _search(places, name, full)


def find(name):
    """What a public name is, "tf.nn.relu" for one, attributes of classes too; AttributeError when it is nothing."""
    value = importlib.import_module("weir")
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def submodule(module, name):
    """The module ``name`` in a module, which may be one that the table knows no more of than whose names it has."""
    full = f"{module}.{name}"
    known = table.place(full) is not None or full in table.modules()
    if not known and name == name.lower() and _places_above(module):  # names with capitals are classes'
        return _made(full)
    return member(module, name)


def _places_above(module):
    """The places of the nearest row ``**`` for what is below a module; None when there is no such row."""
    while module:
        rows = table.modules().get(module, {})
        if "**" in rows:
            return rows["**"].split()
        module = module.rpartition(".")[0]
    return None


def _search(places, name, full):
    """The name in the first place that has it; a stand-in when some place has one, and no place more."""
    stand_in = Absent(full) if not places else _NOTHING
    for place in places:
        value = getattr(at(place), name, _NOTHING)
        if value is not _NOTHING and not is_absent(value):
            return value
        if stand_in is _NOTHING:
            stand_in = value
    if stand_in is _NOTHING:
        raise AttributeError(f"Weir has no tensorflow{full[len('tf'):]} yet{advice(full)}")
    return stand_in


def _made(full):
    """The module of an inner name such as tf.python.ops.array_ops, which has no row of its own."""
    if full not in _made_modules:
        kind = _Messages if full.endswith("_pb2") else Namespace
        _made_modules[full] = kind("tensorflow" + full[len("tf"):], full)
    return _made_modules[full]


def names_of(module):
    """The names that TensorFlow has in a module."""
    rows = table.modules().get(module, {})
    names = {name for name in rows if not name.startswith("*")}
    for place in rows["*"].split() if "*" in rows else _places_above(module) or ():
        names.update(name for name in dir(at(place)) if not name.startswith("_"))
    return names


def present_names_of(module):
    """Those of them that Weir has: what `from module import *` gives."""
    rows = table.modules().get(module, {})
    return {name for name in names_of(module) if (rows[name] if name in rows else not is_absent(member(module, name)))}


_raw_dict = ModuleType.__dict__["__dict__"].__get__


class _Listed(ModuleType):
    """A module whose names are looked up late. Programs that go through `tf.contrib.rnn.__dict__` find them all there."""

    @property
    def __dict__(self):
        names = _raw_dict(self)
        public = names.get("__weir_public__")
        if public is not None and not names.setdefault("__weir_is_listed__", False):
            names["__weir_is_listed__"] = True
            for name in sorted(present_names_of(public)):
                if name not in names:
                    try:
                        names[name] = member(public, name)
                    except (ImportError, AttributeError):
                        pass  # a part that needs something that is not installed
        return names

    def __dir__(self):
        return _raw_dict(self)["__dir__"]()

    def __reduce__(self):
        return importlib.import_module, (self.__name__,)


def namespace(module_name):
    """The ``__getattr__`` and ``__dir__`` of a module of Weir that has a file."""
    public = table.public_name(module_name)
    module = sys.modules[module_name]
    if type(module) is ModuleType:
        module.__weir_public__ = public
        module.__class__ = _Listed

    def get(name):
        if name == "__all__":
            return sorted(present_names_of(public))
        if name.startswith("__"):
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        try:
            value = member(public, name)
        except AttributeError:
            if table.modules().get(public, {}).get(name):
                raise  # it is there, and what it is defined by failed
            full = f"{public}.{name}"
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}{advice(full)}") from None
        setattr(sys.modules[module_name], name, value)
        return value

    def names():
        return sorted(names_of(public))

    return get, names


class Namespace(_Listed):
    """A module without a file."""

    def __init__(self, name, public):
        super().__init__(name, f"{public}: names that are found elsewhere in Weir.")
        self.__path__ = []  # lets the import system look below
        self.__weir_public__ = public

    def __getattr__(self, name):
        if name == "__all__":
            return sorted(present_names_of(self.__weir_public__))
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = self._find(name)
        setattr(self, name, value)
        return value

    def _find(self, name):
        return member(self.__weir_public__, name)

    def __dir__(self):
        return sorted(names_of(self.__weir_public__) | set(_raw_dict(self)))


class _Messages(Namespace):
    """tensorflow.core.*.<file>_pb2: the messages, and descriptors as protoc's generated code names them."""

    def __init__(self, name, public):
        super().__init__(name, public)
        self.__weir_file__ = public.rpartition(".")[2].removesuffix("_pb2")

    def __getattr__(self, name):
        if name == "__all__":
            protos = at("weir.protos")
            known = self.__weir_file__ in protos.file_names()
            return protos.names_of_file(self.__weir_file__) if known else []
        return super().__getattr__(name)

    def _find(self, name):
        protos = at("weir.protos")
        try:
            if name == "DESCRIPTOR":
                return protos.descriptor(self.__weir_file__ + ".proto")
            if name.startswith("_"):
                return protos.descriptor(name[1:])
        except KeyError:
            raise AttributeError(f"Weir has no {self.__name__}.{name} yet") from None
        return super()._find(name)


class FolderFinder:
    """Finds the modules of `weir` that have no file where a folder of their name holds type stubs alone, which Python would
    take for a package; the first of its finders."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if not fullname.startswith("weir."):
            return None
        public = table.public_name(fullname)
        if table.place(public) != fullname:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        return found if found is not None and found.origin is not None else spec(fullname, Namespace(fullname, public))


class Finder:
    """Finds other names of modules of `weir`, and stand-ins for those that it lacks; the last of Python's finders."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if not fullname.startswith("weir."):
            return None
        public = table.public_name(fullname)
        place = table.place(public)
        if place:
            value = at(place)
            return spec(fullname, value) if isinstance(value, ModuleType) else None
        if place is None and not _is_below_an_absent_one(public):
            return None
        return spec(fullname, Absent(public))


def _is_below_an_absent_one(public):
    owners = public.split(".")[:-1]
    return any(table.place(".".join(owners[:end])) == "" for end in range(2, len(owners) + 1))


def spec(name, module):
    """What a finder returns for a module that is there already."""
    return ModuleSpec(name, _Loader(module), is_package=True)


class _Loader:
    def __init__(self, module):
        self._module = module

    def create_module(self, spec_):
        return None

    def exec_module(self, module):
        # Without a path the import system would refuse to look below: `import tensorflow.nn.rnn_cell`.
        if not hasattr(self._module, "__path__"):
            self._module.__path__ = []
        if getattr(self._module, "__spec__", None) is None:
            self._module.__spec__ = module.__spec__
        # The import system returns what stands here afterwards.
        sys.modules[module.__spec__.name] = self._module
