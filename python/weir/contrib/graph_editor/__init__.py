"""tf.contrib.graph_editor: looking at graphs, copying parts of them, and connecting them anew."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
