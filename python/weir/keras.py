"""tf.keras: the package Keras (multi-backend, up to 2.3.1) on Weir, where it is installed.

    pip install keras==2.3.1

Without it the names are stand-ins that say so when they are used.
"""

import functools
import importlib
import importlib.util
import inspect
import os

from weir import names as _names, old_libraries as _old_libraries
from weir.names import tensorflow_alias as _tensorflow_alias
from weir.names.absent import Absent as _Absent

_package = None


def _keras():
    """The package, or None when there is none that runs on TensorFlow 1."""
    global _package
    if _package is None:
        if importlib.util.find_spec("keras") is None:
            return None
        metadata = importlib.import_module("importlib.metadata")
        try:
            version = metadata.version("keras")
        except metadata.PackageNotFoundError:  # a module of the program that is called so
            return None
        if tuple(int(part) for part in version.split(".")[:2]) > (2, 3):
            return None
        _tensorflow_alias.install()  # Keras imports tensorflow
        _old_libraries.install()  # and Python as it was
        os.environ.setdefault("KERAS_BACKEND", "tensorflow")
        _package = importlib.import_module("keras")
        _take_training(importlib.import_module("keras.engine.network").Network)
        layers = importlib.import_module("keras.layers")  # tf.keras names the base of wrappers among them
        if not hasattr(layers, "Wrapper"):
            layers.Wrapper = importlib.import_module("keras.layers.wrappers").Wrapper
    return _package


def _take_training(network):
    """Lets models be called with ``training``, as those of tf.keras are: it is the phase of the layers inside."""
    original = network.call
    if "training" in inspect.signature(original).parameters:
        return

    @functools.wraps(original)
    def call(self, inputs, mask=None, training=None):
        if training is None or not isinstance(training, (bool, int)):
            return original(self, inputs, mask)
        with _names.at("weir.inner.keras_backend:learning_phase_scope")(int(training)):
            return original(self, inputs, mask)

    network.call = call


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'weir.keras' has no attribute {name!r}")
    package = _keras()
    if package is None:
        return _Absent(f"tf.keras.{name}")
    if not hasattr(package, name):
        try:
            return importlib.import_module(f"keras.{name}")
        except ModuleNotFoundError:
            raise AttributeError(f"Keras {package.__version__} has no {name!r}") from None
    return getattr(package, name)


def __dir__():
    package = _keras()
    return [] if package is None else [name for name in dir(package) if not name.startswith("_")]
