"""tf.train.QueueRunner: threads that fill queues."""

import threading
import weakref

from weir import _weir, errors, protos
from weir import logging as _logging
from weir.core import stack
from weir.core.graph import GraphKeys, add_to_collection, get_collection, prepend_name_scope, strip_name_scope
from weir.core.session import Session
from weir.train.coordinator import Coordinator


class QueueRunner:
    """Enqueue operations that are run again and again, each in a thread of its own.

    An error of ``queue_closed_exception_types`` is the end of a thread's input; when all threads have ended so, the queue
    is closed by ``close_op``. Any other error stops the coordinator, and a stop of the coordinator, whoever asked for it,
    closes the queue by ``cancel_op``."""

    def __init__(self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, queue_closed_exception_types=None,
                 queue_runner_def=None, import_scope=None):
        if queue_runner_def:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._init_from_proto(queue_runner_def, import_scope)
        else:
            self._init_from_args(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        self._lock = threading.Lock()
        self._runs_per_session = weakref.WeakKeyDictionary()  # threads that are at work
        self._exceptions_raised = []

    def _init_from_args(self, queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types):
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        types = queue_closed_exception_types
        if types is not None and (not isinstance(types, tuple) or not types or
                                  not all(issubclass(t, errors.OpError) for t in types)):
            raise TypeError(f"queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: "
                            f"{types}")
        self._queue, self._enqueue_ops = queue, enqueue_ops
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._queue_closed_exception_types = types or (errors.OutOfRangeError,)

    def _init_from_proto(self, proto, import_scope):
        if not isinstance(proto, protos.QueueRunnerDef):
            raise TypeError(f"queue_runner_def must be a QueueRunnerDef, but got {type(proto)}")
        graph = stack.get_default_graph()

        def element(name):
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._queue = element(proto.queue_name)
        self._enqueue_ops = [element(name) for name in proto.enqueue_op_name]
        self._close_op, self._cancel_op = element(proto.close_op_name), element(proto.cancel_op_name)
        self._queue_closed_exception_types = tuple(
            errors.exception_type_from_error_code(code)
            for code in proto.queue_closed_exception_types) or (errors.OutOfRangeError,)

    queue = property(lambda self: self._queue)
    enqueue_ops = property(lambda self: self._enqueue_ops)
    close_op = property(lambda self: self._close_op)
    cancel_op = property(lambda self: self._cancel_op)
    queue_closed_exception_types = property(lambda self: self._queue_closed_exception_types)
    name = property(lambda self: self._queue.name)

    @property
    def exceptions_raised(self):
        """What the threads of a runner without a coordinator have raised."""
        return self._exceptions_raised

    def _fill(self, sess, enqueue_op, coord):
        """Enqueues until the coordinator stops. The loop of a session's own callable is C++."""
        enqueue = sess.make_callable(enqueue_op)
        if isinstance(enqueue, _weir.Callable) and (coord is None or isinstance(coord, Coordinator)):
            enqueue._repeat(coord._stop if coord else _weir.Coordinator())
            return
        while not (coord and coord.should_stop()):
            enqueue()

    def _run(self, sess, enqueue_op, coord=None):
        """What a thread does."""
        closed = False
        try:
            self._fill(sess, enqueue_op, coord)
        except self._queue_closed_exception_types:
            closed = True
        except Exception as error:
            if coord:
                coord.request_stop(error)
            else:
                _logging.error("Exception in QueueRunner: %s", error)
                with self._lock:
                    self._exceptions_raised.append(error)
                raise
        finally:
            with self._lock:
                self._runs_per_session[sess] -= 1
                is_last = self._runs_per_session[sess] == 0
        if closed and is_last:
            _ignore_errors(sess, self._close_op)

    def _close_on_stop(self, sess, cancel_op, coord):
        coord.wait_for_stop()
        _ignore_errors(sess, cancel_op)

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """One thread for each enqueue operation, and one that closes the queue when the coordinator stops. None while
        threads of an earlier call are at work in the session."""
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads = [threading.Thread(target=self._run, args=(sess, op, coord),
                                    name=f"QueueRunnerThread-{self.name}-{getattr(op, 'name', op)}")
                   for op in self._enqueue_ops]
        if coord:
            threads.append(threading.Thread(target=self._close_on_stop, args=(sess, self._cancel_op, coord),
                                            name=f"QueueRunnerThread-{self.name}-close_on_stop"))
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads

    def to_proto(self, export_scope=None):
        """The QueueRunnerDef, or None when the queue is not in the scope."""
        if export_scope is not None and not self.queue.name.startswith(export_scope):
            return None

        def name(part):
            return strip_name_scope(part.name, export_scope)

        return protos.QueueRunnerDef(
            queue_name=name(self.queue), enqueue_op_name=[name(op) for op in self.enqueue_ops],
            close_op_name=name(self.close_op), cancel_op_name=name(self.cancel_op),
            queue_closed_exception_types=[errors.error_code_from_exception_type(t)
                                          for t in self._queue_closed_exception_types])

    @staticmethod
    def from_proto(queue_runner_def, import_scope=None):
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def _ignore_errors(sess, op):
    """Runs an operation that closes a queue: it may be closed already, or the session."""
    try:
        sess.run(op)
    except Exception as error:
        _logging.vlog(1, "Ignored exception: %s", error)


def add_queue_runner(qr, collection=GraphKeys.QUEUE_RUNNERS):
    add_to_collection(collection, qr)


def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection=GraphKeys.QUEUE_RUNNERS):
    """Starts the threads of all queue runners of the graph; gives the list of them."""
    if sess is None:
        sess = stack.get_default_session()
        if not sess:
            raise ValueError("Cannot start queue runners: No default session is registered. Use `with "
                             "sess.as_default()` or pass an explicit session to tf.start_queue_runners(sess=sess)")
    if not isinstance(sess, Session):
        if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
            return []  # it has started them itself
        if not (hasattr(sess, "run") and hasattr(sess, "graph")):
            raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    runners = get_collection(collection)
    if not runners:
        _logging.warning("`tf.train.start_queue_runners()` was called when no queue runners were defined. You can safely "
                         "remove the call to this deprecated function.")
    with sess.graph.as_default():
        return [thread for runner in runners
                for thread in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)]
