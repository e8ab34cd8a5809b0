"""Collections of graphs as the lists that programs see."""


class _Collection(list):
    """A collection of a graph as a list. The graph has the items, and others change them too: they are read again before
    each use of the list, when anything has changed, and written back after each change."""

    def __init__(self, graph, name):
        super().__init__()
        self._graph, self._name, self._seen = graph, name, None

    def _read(self):
        changes = self._graph._collection_changes
        if changes != self._seen:
            list.__setitem__(self, slice(None), self._graph._collection(self._name))
            self._seen = changes

    def __reduce__(self):  # copies are plain lists
        return list, (self[:],)


def _reading(method):
    def read(self, *args, **kwargs):
        self._read()
        return getattr(list, method)(self, *args, **kwargs)

    return read


def _writing(method):
    def write(self, *args, **kwargs):
        self._read()
        result = getattr(list, method)(self, *args, **kwargs)
        try:
            self._graph._set_collection(self._name, list.copy(self))
        finally:
            self._seen = None
        return self if result is not None and method in ("__iadd__", "__imul__") else result

    return write


for _method in ("__len__", "__getitem__", "__iter__", "__reversed__", "__contains__", "__eq__", "__ne__", "__lt__", "__le__",
                "__gt__", "__ge__", "__add__", "__mul__", "__rmul__", "__repr__", "copy", "count", "index"):
    setattr(_Collection, _method, _reading(_method))
for _method in ("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "__setitem__", "__delitem__",
                "__iadd__", "__imul__"):
    setattr(_Collection, _method, _writing(_method))
