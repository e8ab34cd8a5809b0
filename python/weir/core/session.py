"""Session and InteractiveSession."""

import collections
import weakref

from weir import _weir, names, nest
from weir.core import stack
from weir.core.config import session_options
from weir.core.devices import device_list
from weir.core.graph import Graph, IndexedSlices
from weir.core.values import IndexedSlicesValue
from weir.errors import InvalidArgumentError, NotFoundError


def _check_target(target):
    if not isinstance(target, (str, bytes, type(None))):
        raise TypeError(f"target must be a string, but got {type(target)}")
    text = target.decode() if isinstance(target, bytes) else target
    if text in ("", None, "local"):
        return ""
    if not text.startswith("grpc://"):
        raise NotFoundError(None, None, "No session factory registered for the given session options: "
                            f"{{target: {text!r}}}")
    return text


_open_sessions = weakref.WeakSet()  # for Session.reset
_run = _weir.Session.run


class BaseSession(_weir.Session):
    """Runs a graph and keeps its variables.

    ``target`` is a server's: "grpc://host:port" (docs/cluster.md). Weir's own: ``direct_convolutions=True`` does without
    Winograd's method, a little more exact, and slower; ``credentials``, {"token": ..., "ca_file": ...}, are what a server asks for.
    """

    def __init__(self, target="", graph=None, config=None, *, direct_convolutions=False, credentials=None):
        if graph is None:
            graph = stack.get_default_graph()
        elif not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        target = _check_target(target)
        options = {**session_options(config), "direct_convolutions": direct_convolutions, "target": target}
        if credentials:
            options["credentials"] = dict(credentials)
        super().__init__(graph, options)
        self._config, self._target = config, target
        _open_sessions.add(self)

    _dead_handles = None  # those of tensors that nobody needs any more; None: the session keeps none

    def _register_dead_handle(self, handle):
        if self._dead_handles is not None:
            self._dead_handles.append(handle)

    def _with_handles(self, feed_dict):
        handles = names.at("weir.core.session_handles")
        handles._delete_dead(self, self._dead_handles)
        return feed_dict and handles._fed_values(feed_dict)

    sess_str = property(lambda self: self._target)

    @property
    def graph_def(self):
        infer_shapes = self._config is not None and self._config.graph_options.infer_shapes
        return self.graph.as_graph_def(add_shapes=infer_shapes)

    # Python's own, because libraries ask for its signature, which inspect cannot tell of a function of the extension.
    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """The values of ``fetches``: a tensor, an operation (None), a name, or any nest of these in the same structure.

        ``feed_dict`` gives values to placeholders and other tensors. ``options`` and ``run_metadata`` are messages, as
        in TensorFlow: a deadline and tracing, and what was traced.
        """
        if self._dead_handles is not None:
            feed_dict = self._with_handles(feed_dict)
        return _run(self, fetches, feed_dict, options, run_metadata)

    def close(self):
        """Ends running steps and refuses further ones."""
        self._close()

    def as_default(self):
        return stack.Pushed("sessions", self, nested=True)

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function of the fed values that runs ``fetches``: quicker than run(), which looks the plan up."""
        callable_ = self._make_callable(fetches, feed_list)
        if not accept_options:
            return callable_
        return lambda *args, options=None, run_metadata=None: callable_._call(args, options, run_metadata)

    def _make_callable_from_options(self, callable_options):
        """The callable that a CallableOptions describes: it gives a list of the fetches, and runs the targets.

        What a connection leads into another tensor is computed from the fed values first.
        """
        fetches, feeds = list(callable_options.fetch), list(callable_options.feed)
        connections = list(callable_options.tensor_connection)
        connected = self._make_callable([connection.from_tensor for connection in connections], feeds)
        run = self._make_callable(fetches + list(callable_options.target),
                                  feeds + [connection.to_tensor for connection in connections])
        options = callable_options.run_options

        def call(*args, run_metadata=None):
            if connections:
                args += tuple(connected._call(args, options, None))
            return run._call(args, options, run_metadata)[:len(fetches)]

        return call

    def partial_run_setup(self, fetches, feeds=None):
        """Begins a run in pieces, which will give these feeds and take these fetches: a handle for partial_run."""
        if self._target:
            return self._partial_run_setup(fetches, list(feeds or []))
        handle = f"partial_run_{len(self.__dict__.setdefault('_partial_runs', {}))};{id(self)}"
        feeds = [] if feeds is None else feeds
        feeds = [part[0] for feed in feeds for part in _expand_feed_key(feed)]
        self._partial_runs[handle] = self._begin_partial_run(fetches, feeds)
        return handle

    def partial_run(self, handle, fetches, feed_dict=None):
        """One piece of a run: the values of ``fetches``, from what was fed now and before. No operation runs twice."""
        if self._target:
            return self._partial_run(handle, fetches, feed_dict)
        run = self.__dict__.get("_partial_runs", {}).get(handle)
        if run is None:
            raise InvalidArgumentError(None, None, "Must run 'setup' before performing partial runs!")
        return self._continue_partial_run(run, fetches, feed_dict)

    def list_devices(self):
        return device_list(self._list_devices())


class Session(BaseSession):
    """``with Session() as sess:`` makes it the default session and its graph the default graph."""

    def __enter__(self):
        self._entered = getattr(self, "_entered", [])
        if self._entered:
            raise RuntimeError("Session context managers are not re-entrant. Use `Session.as_default()` if you want to "
                               "enter a session multiple times.")
        graph, session = stack.Pushed("graphs", self.graph), self.as_default()
        graph.__enter__()
        session.__enter__()
        self._entered.append((graph, session))
        return self

    def __exit__(self, exc_type, exc, traceback):
        graph, session = self._entered.pop()
        session.__exit__()
        graph.__exit__()
        self.close()
        return False

    @staticmethod
    def reset(target, containers=None, config=None):
        """Drops what the containers hold (None: the default container) and closes the sessions on ``target``.

        For "" these are all of this process, as in TensorFlow.
        """
        target = _check_target(target)
        containers = [name.decode() if isinstance(name, bytes) else name for name in containers or []]
        if target:
            # Whoever has a session there finds it closed, this one too.
            Session(target, graph=Graph(), config=config)._reset(containers)
        for session in list(_open_sessions):
            if not session._closed and session._target == target and not target:
                session._reset(containers)


class InteractiveSession(BaseSession):
    """A session that is the default one from its construction to its close()."""

    _active_session_count = 0

    def __init__(self, target="", graph=None, config=None, **options):
        super().__init__(target, graph, config, **options)
        if InteractiveSession._active_session_count > 0:
            import warnings

            warnings.warn("An interactive session is already active. This can cause out-of-memory errors in some cases. "
                          "You must explicitly call `InteractiveSession.close()` to release resources held by the other "
                          "session(s).")
        InteractiveSession._active_session_count += 1
        self._explicit_graph = graph
        self._pushed = [stack.Pushed("sessions", self)]
        if graph is not None:
            self._pushed.append(stack.Pushed("graphs", graph))
        for pushed in self._pushed:
            pushed.__enter__()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
        return False

    def close(self):
        super().close()
        if self._pushed:
            InteractiveSession._active_session_count -= 1
        while self._pushed:
            self._pushed.pop().__exit__()


_DICT_VIEWS = (type({}.keys()), type({}.values()), type(collections.OrderedDict().keys()),
               type(collections.OrderedDict().values()))
_expansions = []  # (type, fetch function, feed function)


def register_session_run_conversion_functions(tensor_type, fetch_function, feed_function=None,
                                              feed_function_for_partial_run=None):
    """Lets run() take objects of another type: ``fetch_function(obj) -> (tensors, function of their values)``."""
    if any(tensor_type is known for known, _, _ in _expansions):
        raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _expansions.insert(0, (tensor_type, fetch_function, feed_function))


def _expand_fetch(obj):
    """(tensors, function that puts the values together) of an object that is fetched as several tensors, or None."""
    for base_type, fetch, _ in _expansions:
        if isinstance(obj, base_type):
            tensors, function = fetch(obj)
            return list(tensors), function
    if isinstance(obj, IndexedSlices):
        parts = [obj.values, obj.indices] + ([] if obj.dense_shape is None else [obj.dense_shape])
        return parts, lambda values: IndexedSlicesValue(*values) if len(values) == 3 else IndexedSlicesValue(*values, None)
    if hasattr(obj, "_fetch_parts"):
        return obj._fetch_parts()
    if isinstance(obj, _DICT_VIEWS):  # a list in Python 2: of programs that run on both
        parts = nest.flatten(list(obj))
        return parts, lambda values: nest.pack_sequence_as(list(obj), values)
    if hasattr(obj, "_as_graph_element"):
        element = obj._as_graph_element()
        if element is not None:
            return [element], lambda values: values[0]
    return None


def _expand_feed(key, value):
    """[(tensor, value)] for a key that stands for several tensors, or None."""
    for base_type, _, feed in _expansions:
        if feed is not None and isinstance(key, base_type):
            return list(feed(key, value))
    if hasattr(key, "_feed_parts"):
        return key._feed_parts(value)
    if isinstance(key, tuple):  # tensors in a structure, and their values in the same one
        return list(nest.flatten_dict_items({key: value}).items())
    return None


def _expand_feed_key(key):
    """[(tensor, None)] of what a feed stands for."""
    if isinstance(key, (IndexedSlices,)) or hasattr(key, "_feed_parts"):
        return [(part, None) for part, _ in key._feed_parts([None] * 3)]
    return [(key, None)]


def _tensor_handle(handle, dtype, session):
    """What run() gives for a handle of a tensor that the session keeps."""
    if session._dead_handles is None:
        session._dead_handles = []
    return names.at("weir.core.session_handles:TensorHandle")(handle, dtype, session)


def _record_metadata(metadata, step_stats):
    metadata.step_stats.ParseFromString(step_stats)
