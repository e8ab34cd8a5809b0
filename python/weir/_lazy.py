"""Names that are imported when first used, and names that are not there yet."""

import importlib


def resolver(module_name, places, missing=()):
    """A module's ``__getattr__``: ``places`` says where a name is found, as (module, attribute or None for the module).

    A name that is nowhere raises an AttributeError that says so; of names in ``missing``, which TensorFlow has, a
    function that raises NotImplementedError is given, so that a program fails where it uses one.
    """
    public = "tf" + module_name[len("weir"):]

    def resolve(name):
        if name in places:
            module, attribute = places[name]
            value = importlib.import_module(module)
            if attribute is not None:
                value = getattr(value, attribute)
        elif name in missing:
            value = _absent(f"{public}.{name}")
        elif name.startswith("__"):
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        else:
            raise AttributeError(f"Weir has no {public}.{name}")
        importlib.import_module(module_name).__dict__[name] = value
        return value

    return resolve


class _Absent:
    """Stands for a function or class that is not there yet."""

    def __init__(self, name):
        self.__name__ = name

    def _fail(self, *args, **kwargs):
        raise NotImplementedError(f"{self.__name__} is not in Weir yet.")

    __call__ = _fail

    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return _Absent(f"{self.__name__}.{attribute}")

    def __mro_entries__(self, bases):
        self._fail()

    def __repr__(self):
        return f"<{self.__name__}: not in Weir yet>"


def _absent(name):
    return _Absent(name)
