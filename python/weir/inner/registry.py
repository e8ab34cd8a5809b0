"""tensorflow.python.framework.registry: objects by name."""

from weir import logging


class Registry:
    """Named objects of one kind. A name is registered once."""

    def __init__(self, name):
        self._name = name
        self._registry = {}

    def register(self, candidate, name=None):
        if not name:
            name = candidate.__name__
        if name in self._registry:
            raise KeyError(f"Registering two {self._name} with name '{name}'!")
        logging.vlog(1, "Registering %s (%s) in %s.", name, candidate, self._name)
        self._registry[name] = candidate

    def list(self):
        return list(self._registry)

    def lookup(self, name):
        if name not in self._registry:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._registry[name]
