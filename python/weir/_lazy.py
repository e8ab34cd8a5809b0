"""Names that are imported when first used, and names that TensorFlow has and Weir has not."""

import importlib
import os

# Modules of TensorFlow whose names are those of other modules; see namespaces.py.
NAMESPACES = ("bitwise", "debugging", "dtypes", "initializers", "io", "linalg", "manip", "math", "quantization",
              "random", "raw_ops", "sets", "signal", "sparse", "spectral", "strings", "version")

_tensorflow_names = None


def tensorflow_names(module):
    """The public names of a module of TensorFlow ("tf", "tf.nn", ...)."""
    return _recorded().get(module, frozenset())


def is_recorded(module):
    """Whether TensorFlow has a public module of this name, or one below it."""
    return any(name == module or name.startswith(module + ".") for name in _recorded())


def _recorded():
    """Public names by module: a recorded list, read when first asked for."""
    global _tensorflow_names
    if _tensorflow_names is None:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tensorflow_names.txt")
        with open(path, encoding="ascii") as file:
            rows = (line.rstrip("\n").split("\t") for line in file if not line.startswith("#"))
            _tensorflow_names = {name: frozenset(names.split()) for name, names in rows}
    return _tensorflow_names


def resolver(module_name, places):
    """A module's ``__getattr__``: ``places`` says where a name is found, as (module, attribute or None for the module).

    Of other names that TensorFlow has, a stand-in is given, so that a program fails where it uses one, with a
    NotImplementedError that says so. Names that are nowhere raise AttributeError.
    """
    public = "tf" + module_name[len("weir"):]

    def resolve(name):
        if name in places:
            module, attribute = places[name]
            value = importlib.import_module(module)
            if attribute is not None:
                value = getattr(value, attribute)
        elif not name.startswith("__") and name in tensorflow_names(public):
            value = Absent(f"{public}.{name}")
        else:
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        importlib.import_module(module_name).__dict__[name] = value
        return value

    return resolve


class Absent:
    """Stands for a function, class or module of TensorFlow that is not there yet. ``is_absent`` tells it apart."""

    def __init__(self, name):
        self.__name__ = name

    def _fail(self, *args, **kwargs):
        raise NotImplementedError(f"{self.__name__} is not in Weir yet.")

    __call__ = __mro_entries__ = __instancecheck__ = __subclasscheck__ = __enter__ = __iter__ = _fail

    def __exit__(self, *exc):
        return False

    def __getattr__(self, attribute):
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return Absent(f"{self.__name__}.{attribute}")

    def __repr__(self):
        return f"<{self.__name__}: not in Weir yet>"


def is_absent(value):
    """Whether a public name only says that it is not there: a stand-in, or a function of operations that Weir lacks."""
    if isinstance(value, Absent):
        return True
    from weir import _weir

    needs = getattr(value, "_weir_needs", ()) if callable(value) else ()
    return any(_weir.op_spec(op) is None for op in needs)
