"""Functions that build graphs: TensorFlow's names, argument orders and defaults over the C++ API."""

import sys


def public_names(namespace):
    """The names that a module of this package defines for the public: what it imports is not among them."""
    own = (namespace["__name__"], "weir.ops.simple")
    return [name for name, value in namespace.items()
            if not name.startswith("_") and not isinstance(value, type(sys))
            and getattr(value, "__module__", own[0]) in own]
