"""`import tensorflow` gives Weir.

After `install()` the module `tensorflow` is the module `weir`, `tensorflow.a.b` is `weir.a.b`, and the modules that
programs reach into TensorFlow for are there too: `tensorflow.python.framework.ops` and its like find their names in
`weir`, `tensorflow.core.framework.graph_pb2` and its like in `weir.protos`. What is missing says so:
`Weir has no tensorflow.x.y yet`.
"""

import importlib
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from weir.names import modules
from weir.names.absent import is_absent

_ROOT = "tensorflow"
_ESTIMATOR = "tensorflow_estimator"


def install():
    """Makes `tensorflow` importable as another name of `weir`. Does nothing the second time.

    Raises RuntimeError if the real TensorFlow has been imported already.
    """
    weir = sys.modules["weir"]
    present = sys.modules.get(_ROOT)
    if present is weir:
        return
    if present is not None:
        raise RuntimeError("another tensorflow has been imported before Weir was installed under its name")
    sys.modules[_ROOT] = weir
    sys.meta_path.insert(0, _Finder)


def find(name):
    """What "tf.a.b" is, with inner modules imported on the way; AttributeError or ImportError when it is nothing."""
    install()
    value, path = sys.modules["weir"], _ROOT
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        try:
            value = getattr(value, part)
        except AttributeError:
            if not isinstance(value, ModuleType):
                raise
            value = importlib.import_module(path)
    return value


class _Finder:
    """Finds everything below `tensorflow`, so that no module is loaded a second time under that name."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if fullname.partition(".")[0] == _ESTIMATOR:  # a package of its own since TensorFlow 1.13
            inner = fullname[len(_ESTIMATOR):].removeprefix(".python")
            return modules.spec(fullname, importlib.import_module(f"{_ROOT}.python{inner}"))
        if not fullname.startswith(_ROOT + "."):
            return None
        try:
            return modules.spec(fullname, _module(fullname))
        except ModuleNotFoundError:
            spec = _spec_of_source_tree(fullname)
            if spec is None:
                raise
            return spec


# What stands in TensorFlow's source tree and is programs, not TensorFlow.
_PROGRAMS = ("tensorflow.examples.", "tensorflow.models.")


def _spec_of_source_tree(fullname):
    """A module beside the program that runs, where that is one of TensorFlow's own examples; else None."""
    if not fullname.startswith(_PROGRAMS):
        return None
    inside = os.path.join(*fullname.split(".")[:-1])  # the folder, from above tensorflow/ on
    folder = os.path.abspath(sys.path[0] or ".")
    while os.path.basename(folder) != _ROOT:
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
    places = [os.path.join(os.path.dirname(folder), inside)]
    specs = (f.find_spec(fullname, places) for f in sys.meta_path if f is not _Finder)
    spec = next((spec for spec in specs if spec is not None), None)
    if spec is not None and spec.origin is None:  # a folder without __init__.py, whose place its parent does not know
        folder, spec = list(spec.submodule_search_locations), ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = folder
    return spec


def _module(fullname):
    """The module that stands for tensorflow.a.b, whose parent the import system has found already."""
    parent, _, name = fullname.rpartition(".")
    owner = sys.modules[parent]
    try:
        value = getattr(owner, name, None)
        if value is None and owner.__name__.partition(".")[0] not in ("weir", _ROOT):  # a module of Keras
            return importlib.import_module(f"{owner.__name__}.{name}")
        if value is None or isinstance(owner, modules.Namespace):
            value = modules.submodule("tf" + parent[len(_ROOT):], name)
    except AttributeError:
        raise ModuleNotFoundError(f"Weir has no {fullname} yet", name=fullname) from None
    if isinstance(value, ModuleType) or is_absent(value):
        return value
    raise ModuleNotFoundError(f"{fullname} is no module", name=fullname)
