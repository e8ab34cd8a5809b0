"""tensorflow.python.util.lazy_loader: modules that are imported when something of them is asked for."""

import importlib
import types


class LazyLoader(types.ModuleType):
    """Stands for the module ``name`` under ``local_name`` among a module's names until it is used."""

    def __init__(self, local_name, parent_module_globals, name, warning=None):
        super().__init__(name)
        self._local_name, self._names = local_name, parent_module_globals

    def _load(self):
        module = importlib.import_module(self.__name__)
        self._names[self._local_name] = module
        self.__dict__.update(module.__dict__)
        return module

    def __getattr__(self, name):
        return getattr(self._load(), name)

    def __dir__(self):
        return dir(self._load())
