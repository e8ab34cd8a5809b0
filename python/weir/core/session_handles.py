"""Tensors that stay in a session between runs: TensorHandle and what is needed around it."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import Tensor, colocate_with
from weir.core.op_functions import apply

_KEPT_DEAD = 10  # handles that wait until so many can be deleted at once


class TensorHandle:
    """The handle of a tensor that a session keeps. The tensor goes when the handle does."""

    def __init__(self, handle, dtype, session):
        self._handle = handle.decode() if isinstance(handle, bytes) else str(handle)
        self._dtype, self._session = dtypes.as_dtype(dtype), session
        self._auto_gc_enabled = True

    def __del__(self):
        if getattr(self, "_auto_gc_enabled", False):
            self._session._register_dead_handle(self._handle)

    def __str__(self):
        return self._handle

    handle = property(lambda self: self._handle)

    def _require_alive(self):
        if not self._auto_gc_enabled:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")

    def eval(self):
        """The value of the tensor."""
        self._require_alive()
        holder, reader = _reader(self._session.graph, self._dtype)
        return self._session.run(reader, feed_dict={holder: self._handle})

    def delete(self):
        """Lets the tensor go at once."""
        self._require_alive()
        self._auto_gc_enabled = False
        holder, deleter = _deleter(self._session.graph)
        self._session.run(deleter, feed_dict={holder: self._handle})

    def get_raw_handle(self):
        """The handle as text. The tensor then stays until the program deletes it."""
        self._auto_gc_enabled = False
        return self._handle


def get_session_handle(data, name=None):
    """A handle of ``data``, whose value the session keeps: run() gives a TensorHandle for it."""
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        return apply("GetSessionHandle", (data,), {}, name)


def get_session_tensor(handle, dtype, name=None):
    """(placeholder for a handle, the tensor that the session keeps under it)."""
    holder = apply("Placeholder", (), {"dtype": "string", "shape": None}, None)
    return holder, apply("GetSessionTensor", (holder,), {"dtype": dtypes.as_dtype(dtype)}, name)


def delete_session_tensor(handle, name=None):
    """(placeholder for a handle, operation that lets the tensor go)."""
    holder = apply("Placeholder", (), {"dtype": "string", "shape": None}, None)
    return holder, apply("DeleteSessionTensor", (holder,), {}, name)


def _reader(graph, dtype):
    """What reads tensors of this type; one for each graph."""
    readers = graph.__dict__.setdefault("_handle_readers", {})
    if dtype not in readers:
        with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None):
            readers[dtype] = get_session_tensor(None, dtype)
    return readers[dtype]


def _deleter(graph):
    if "_handle_deleter" not in graph.__dict__:
        with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None):
            graph._handle_deleter = delete_session_tensor(None)
    return graph._handle_deleter


def _fed_values(feed_dict):
    """Feeds with handles replaced: by their text where a tensor of text is fed, else by the value."""
    return {key: _fed(key, value) if isinstance(value, TensorHandle) else value for key, value in feed_dict.items()}


def _fed(key, handle):
    wants_text = isinstance(key, Tensor) and key.dtype.base_dtype.name == "string" and handle._dtype.name != "string"
    reads = isinstance(key, Tensor) and any(op.type in ("GetSessionTensor", "DeleteSessionTensor")
                                            for op in key.consumers())
    return handle.handle if wants_text or reads else handle.eval()


def _delete_dead(session, dead):
    """Deletes what nobody has a handle of any more, many at once."""
    if len(dead) < _KEPT_DEAD or session.graph.finalized:
        return
    holder, deleter = _deleter(session.graph)
    while dead:
        try:
            _weir.Session.run(session, deleter, {holder: dead.pop()})
        except Exception:  # it is gone already, or the session is
            return
