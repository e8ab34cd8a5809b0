"""Weir: a dataflow machine-learning engine with TensorFlow 1's interface.

``import weir as tf`` in a program of one's own; ``weir run program.py`` for a program that imports tensorflow.
Where a name is defined stands in names/names.tsv, which ``weir where tf.nn.relu`` looks up.
"""

from weir import binding as _binding, names as _names  # noqa: F401: it tells the extension its Python classes
from weir.core.version import __compiler_version__, __git_version__, __version__  # noqa: F401

__getattr__, __dir__ = _names.namespace(__name__)
