"""slim.queues: queue runners for the length of a block."""

import contextlib
import threading

from weir import names
from weir.core.graph import GraphKeys, get_collection

_lock = threading.Lock()


class NestedQueueRunnerError(Exception):
    """Two blocks of queue runners, one inside the other."""


@contextlib.contextmanager
def QueueRunners(session):
    """Runs the queue runners of the graph while the block runs."""
    if not _lock.acquire(False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    try:
        coordinator, threads = names.find("tf.train.Coordinator")(), []
        for runner in get_collection(GraphKeys.QUEUE_RUNNERS):
            threads += runner.create_threads(session, coord=coordinator, daemon=True, start=True)
        try:
            yield
        finally:
            coordinator.request_stop()
            try:
                coordinator.join(threads, stop_grace_period_secs=120)
            except RuntimeError:
                session.close()
    finally:
        _lock.release()
