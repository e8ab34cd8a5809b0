"""The default graph and the default session of a thread."""

import threading


class _Stacks(threading.local):
    def __init__(self):
        self.graphs, self.sessions = [], []


_stacks = _Stacks()
_global_graph = None
_global_graph_lock = threading.Lock()
_graph_class = None  # set by graph.py, which imports this module


def get_default_graph():
    graphs = _stacks.graphs
    return graphs[-1] if graphs else _root_graph()


def _root_graph():
    global _global_graph
    if _global_graph is None:
        with _global_graph_lock:
            if _global_graph is None:
                _global_graph = _graph_class()
    return _global_graph


def reset_default_graph():
    """Begins a new default graph. Not inside ``with graph.as_default()``."""
    global _global_graph
    if _stacks.graphs:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, "
                             "exit the nesting and create a new graph.")
    _global_graph = None


def get_default_session():
    sessions = _stacks.sessions
    return sessions[-1] if sessions else None


class Pushed:
    """``with Pushed(stack, item) as item``. May be entered and left by hand; in any order unless it is ``nested``."""

    def __init__(self, stack_name, item, nested=False):
        self._stack_name, self._item, self._nested = stack_name, item, nested

    def __enter__(self):
        getattr(_stacks, self._stack_name).append(self._item)
        return self._item

    def __exit__(self, *exc):
        stack = getattr(_stacks, self._stack_name)
        if self._nested and stack and stack[-1] is not self._item:
            raise AssertionError(f"Nesting violated for default stack of {type(self._item)} objects")
        for i in range(len(stack) - 1, -1, -1):
            if stack[i] is self._item:
                del stack[i]
                break
        return False


class _DefaultSessions:
    """The stack of default sessions, by the name that TensorFlow's own tests have for it."""

    @staticmethod
    def get_default():
        return get_default_session()

    @staticmethod
    def reset():
        _stacks.sessions.clear()


_default_session_stack = _DefaultSessions()
