"""tf.contrib.gan: the package TF-GAN, which tf.contrib.gan became, on Weir, where it is installed.

    pip install --no-deps tensorflow-gan==2.0.0

Without it the names are stand-ins that say so when they are used.
"""

import importlib
import importlib.util

from weir.names import tensorflow_alias as _tensorflow_alias
from weir.names.absent import Absent as _Absent


def _package():
    """The package, or None where it is not installed."""
    if importlib.util.find_spec("tensorflow_gan") is None:
        return None
    _tensorflow_alias.install()  # TF-GAN imports tensorflow
    return importlib.import_module("tensorflow_gan")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'weir.contrib.gan' has no attribute {name!r}")
    package = _package()
    if package is None:
        return _Absent(f"tf.contrib.gan.{name}")
    return getattr(package, name)


def __dir__():
    package = _package()
    return [] if package is None else [name for name in dir(package) if not name.startswith("_")]
