"""`import tensorflow` gives Weir.

After `install()` the module `tensorflow` is the module `weir`, `tensorflow.a.b` is `weir.a.b`, and the modules that
programs reach into TensorFlow for are there too: `tensorflow.python.framework.ops` and its like find their names in
`weir`, `tensorflow.core.framework.graph_pb2` and its like in `weir.protos`. What is missing says so:
`Weir has no tensorflow.x.y yet`.
"""

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from . import _lazy, python_names

_ROOT = "tensorflow"


def install():
    """Makes `tensorflow` importable as another name of `weir`. Does nothing the second time.

    Raises RuntimeError if the real TensorFlow has been imported already.
    """
    weir = sys.modules[__package__]
    present = sys.modules.get(_ROOT)
    if present is weir:
        return
    if present is not None:
        raise RuntimeError("another tensorflow has been imported before Weir was installed under its name")
    sys.modules[_ROOT] = weir
    sys.meta_path.insert(0, _Finder)


class _Finder:
    """Finds everything below `tensorflow`, so that no module is loaded a second time under that name."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if not fullname.startswith(_ROOT + "."):
            return None
        module = _resolve(fullname[len(_ROOT) + 1 :])
        return ModuleSpec(fullname, _Loader(module), is_package=True)


class _Loader:
    def __init__(self, module):
        self._module = module

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        # Without a path the import system would refuse to look below: `import tensorflow.nn.rnn_cell`.
        if isinstance(self._module, (ModuleType, _lazy.Absent)) and not hasattr(self._module, "__path__"):
            self._module.__path__ = []
        if isinstance(self._module, _lazy.Absent):
            self._module.__spec__ = module.__spec__
        # The import system returns what stands here afterwards.
        sys.modules[module.__spec__.name] = self._module


def _missing(name):
    full = f"{_ROOT}.{name}"
    return ModuleNotFoundError(f"Weir has no {full} yet", name=full)


def _resolve(name):
    """The module (or namespace object) that stands for tensorflow.<name>."""
    if name == "compat.v1":
        return sys.modules[__package__]
    if name == "core":
        return importlib.import_module(f"{__package__}.core")  # `tensorflow` is `weir`, so it has one `core` only
    if name.startswith("core."):
        return _message_module(name)
    parts = name.split(".")
    if parts[0] == "python" or name in python_names.MODULES:
        return _names_module(name)
    value = find(name)
    if value is not _NOTHING and not _lazy.is_absent(value):
        return value
    if parts[0] == "contrib" and parts[2:3] == ["python"] and find(f"contrib.{parts[1]}") is not _NOTHING:
        # contrib.x.python.y.z.w, where TensorFlow keeps what contrib.x shows
        owner = f"contrib.{parts[1]}"
        return _Names(name, (f"{owner}.{parts[-1]}", owner, ""))
    if name in python_names.PACKAGES:
        return _Names(name)
    if _lazy.is_recorded(f"tf.{name}"):  # programs import more than they use
        return _lazy.Absent(f"tf.{name}")
    raise _missing(name)


_NOTHING = object()


def find(path):
    """weir.<path>, which may be a module or an attribute; _NOTHING if there is none."""
    value = sys.modules[__package__]
    for part in path.split(".") if path else ():
        owner = value
        if isinstance(owner, _Names):  # set there by an import; it asks here in turn
            return _NOTHING
        value = getattr(owner, part, _NOTHING)
        # Only Weir's own packages: to import below an alias would come back here.
        own = isinstance(owner, ModuleType) and owner.__name__.partition(".")[0] == __package__
        if value is _NOTHING and own and hasattr(owner, "__path__"):
            full = f"{owner.__name__}.{part}"
            try:
                value = importlib.import_module(full)
            except ModuleNotFoundError as error:
                if not f"{full}.".startswith(f"{error.name}."):  # a module that it imports is missing
                    raise
        if value is _NOTHING:
            return _NOTHING
    return value


class _Names(ModuleType):
    """A module of tensorflow.python: each name is looked up in namespaces of Weir when it is asked for."""

    def __init__(self, path, spaces=()):
        super().__init__(f"{_ROOT}.{path}", f"tensorflow.{path}, found in Weir")
        self.__path__ = []
        self.__weir_path__ = path
        self.__weir_spaces__ = spaces

    def __getattr__(self, name):
        if name == "__all__":
            return self._public_names()
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        inner = f"{self.__weir_path__}.{name}"
        if inner in python_names.PACKAGES or inner in python_names.MODULES:
            return importlib.import_module(f"{_ROOT}.{inner}")
        stand_in = _NOTHING  # for a name that TensorFlow has in one of the places and Weir in none
        for space in self.__weir_spaces__:
            value = find(f"{space}.{name}" if space else name)
            if isinstance(value, _lazy.Absent):
                stand_in = value
            elif value is not _NOTHING:
                setattr(self, name, value)
                return value
        if stand_in is not _NOTHING:
            return stand_in
        if _has_stand_ins(inner):
            return _lazy.Absent(f"{_ROOT}.{inner}")
        raise AttributeError(f"Weir has no {_ROOT}.{inner} yet")

    def _public_names(self):
        names = []
        for space in self.__weir_spaces__:
            owner = find(space)
            if owner is not _NOTHING:
                names += [name for name in dir(owner) if not name.startswith("_")]
        return names

    def __dir__(self):
        return sorted(set(self._public_names()) | set(self.__dict__))


def _has_stand_ins(path):
    return any(f"{path}.".startswith(f"{package}.") for package in python_names.STAND_INS)


def _stand_in(path):
    if not _has_stand_ins(path):
        raise _missing(path)
    return _lazy.Absent(f"{_ROOT}.{path}")


def _names_module(path):
    if path not in python_names.PACKAGES and path not in python_names.MODULES:
        return _stand_in(path)
    spaces = python_names.MODULES.get(path, ())
    inner = any(other.startswith(path + ".") for other in python_names.MODULES)
    if len(spaces) == 1 and spaces[0] and not inner:  # one module of Weir is the whole of it
        value = find(spaces[0])
        if isinstance(value, ModuleType):
            return value
    if spaces and all(find(space) is _NOTHING or _lazy.is_absent(find(space)) for space in spaces):
        return _stand_in(path)
    return _Names(path, spaces)


class _Messages(ModuleType):
    """tensorflow.core.*.<file>_pb2: the messages, and descriptors as protoc's generated code names them."""

    def __init__(self, path, file):
        super().__init__(f"{_ROOT}.{path}", f"The messages of tensorflow.{path}")
        self.__weir_file__ = file

    def __getattr__(self, name):
        from . import protos

        known = self.__weir_file__ in protos.file_names()
        if name == "__all__":
            return protos.names_of_file(self.__weir_file__) if known else []
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "DESCRIPTOR" and known:
            return protos.descriptor(self.__weir_file__ + ".proto")
        if name.startswith("_"):
            try:
                return protos.descriptor(name[1:])
            except KeyError:
                pass
        else:
            value = getattr(protos, name, _NOTHING)
            if value is not _NOTHING:
                return value
        raise AttributeError(f"Weir has no {self.__name__}.{name} yet")


def _message_module(path):
    parts = path.split(".")
    if path in python_names.MESSAGE_PACKAGES:
        package = ModuleType(f"{_ROOT}.{path}")
        package.__path__ = []
        return package
    if len(parts) == 3 and parts[2].endswith("_pb2"):
        from . import protos

        file = parts[2][: -len("_pb2")]
        # TensorFlow spreads some messages over more files than Weir does.
        if file in protos.file_names() or file in python_names.MESSAGE_FILES:
            return _Messages(path, file)
    raise _missing(path)
