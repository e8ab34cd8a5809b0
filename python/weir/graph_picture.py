"""A picture of a graph in a notebook or as an HTML page, without TensorBoard and without network.

weir.show_graph()                          # in a notebook: the default graph
weir.show_graph(graph).save("graph.html")  # in a program
"""

import os

from weir import _weir
from weir.core.stack import get_default_graph


class GraphPicture:
    """What `show_graph` returns: notebooks show it, `save` writes it, `html` is the page."""

    def __init__(self, html, height):
        self.html = html
        self._height = height

    def save(self, path):
        """Writes the page; the file appears whole or not at all."""
        _weir.write_graph_html(os.fspath(path), self.html)

    def _repr_html_(self):
        import html

        # A frame of its own, so that neither the notebook's style and scripts nor the page's reach the other.
        return (
            f'<iframe srcdoc="{html.escape(self.html, quote=True)}" sandbox="allow-scripts" '
            f'style="width:100%;height:{self._height}px;border:1px solid #8888"></iframe>'
        )

    def __repr__(self):
        return f"<GraphPicture of {len(self.html)} bytes; notebooks show it, save(path) writes it>"


def show_graph(graph=None, title="Graph", height=600):
    """Draws a graph.

    Args:
      graph: a Graph, a GraphDef or MetaGraphDef (Weir's or TensorFlow's), a serialised GraphDef, or the path of a file: a
        GraphDef or MetaGraphDef, binary or text, or an event file. The default graph when None.
      title: stands above the picture.
      height: of the picture in a notebook, in pixels.

    Returns:
      A GraphPicture.
    """
    return GraphPicture(_weir.graph_html(_graph_def(graph), title), int(height))


def _graph_def(graph):
    if graph is None:
        graph = get_default_graph()
    if hasattr(graph, "_to_graph_def"):
        return graph._to_graph_def(True)
    if hasattr(graph, "graph_def") and hasattr(graph, "SerializeToString"):  # a MetaGraphDef
        graph = graph.graph_def
    if hasattr(graph, "SerializeToString"):
        return graph.SerializeToString()
    if isinstance(graph, (bytes, bytearray, memoryview)):
        return bytes(graph)
    if isinstance(graph, (str, os.PathLike)):
        return _weir.read_graph_def(os.fspath(graph))
    raise TypeError(f"graph must be a Graph, a GraphDef or the path of a file, not {type(graph).__name__}")
