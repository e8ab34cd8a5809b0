"""All Inception networks in one module."""

from weir import names as _names

_PLACES = {name: f"weir.contrib.slim.nets.inception_v{version}:{name}" for version in (1, 2, 3)
           for name in (f"inception_v{version}", f"inception_v{version}_base", f"inception_v{version}_arg_scope")}


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _names.at(_PLACES[name])


def __dir__():
    return sorted(_PLACES)
