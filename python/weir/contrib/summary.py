"""tf.contrib.summary: operations that write event files themselves, where those of tf.summary give the program bytes.

A writer that is entered takes what is recorded inside; ``all_summary_ops()`` are the operations that a step must run.
"""

import contextlib
import os
import threading

from weir import names as _names
from weir.core import dtypes, tensor_util
from weir.core.graph import (Graph, Tensor, add_to_collection, convert_to_tensor, device, get_collection,
                             name_scope)
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph, get_default_session
from weir.inner.summary_op_util import summary_scope
from weir.ops import array_ops, control_flow_ops, math_ops
from weir.train.steps import get_or_create_global_step

_INITIALIZERS, _SUMMARIES = "_SUMMARY_WRITER_V2", "_SUMMARY_V2"


class _Context(threading.local):
    """The writer of this thread, and whether it records: None, a truth value, a tensor, or a function that gives one."""

    writer = recording = None


_context = _Context()


@contextlib.contextmanager
def _recording(condition):
    before, _context.recording = _context.recording, condition
    try:
        yield
    finally:
        _context.recording = before


def always_record_summaries():
    return _recording(True)


def never_record_summaries():
    return _recording(False)


def record_summaries_every_n_global_steps(n, global_step=None):
    step = get_or_create_global_step() if global_step is None else global_step
    with device("cpu:0"):
        return _recording(math_ops.equal(math_ops.mod(step, n), 0))


def should_record_summaries():
    """Whether what is recorded now is written: a tensor. It is not unless one of the functions above said so."""
    condition = _context.recording() if callable(_context.recording) else _context.recording
    return convert_to_tensor(False if condition is None else condition, dtypes.bool)


class SummaryWriter:
    """What ``create_file_writer`` gives."""

    def __init__(self, shared_name, create, name=None):
        self._resource = apply("SummaryWriter", (), {"shared_name": shared_name}, name)
        self._create = create
        add_to_collection(_INITIALIZERS, self.init())

    def set_as_default(self):
        """For this thread, until another is."""
        _context.writer = self

    @contextlib.contextmanager
    def as_default(self):
        before, _context.writer = _context.writer, self
        try:
            yield self
            self.flush()
        finally:
            _context.writer = before

    def init(self):
        """The operation that opens the file."""
        return self._create(self._resource)

    def flush(self):
        return flush(self)

    def close(self):
        with get_default_graph().control_dependencies([self.flush()]), device("cpu:0"):
            return apply("CloseSummaryWriter", (self._resource,), {}, None)


class _NoWriter(SummaryWriter):
    """Takes nothing."""

    def __init__(self):
        pass

    def _nothing(self):
        pass

    set_as_default = init = flush = close = _nothing

    @contextlib.contextmanager
    def as_default(self):
        yield


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None):
    """A writer of an event file in ``logdir``; without a folder one that does nothing."""
    if logdir is None:
        return _NoWriter()
    logdir = str(logdir)

    def create(resource):
        return apply("CreateSummaryFileWriter",
                     (resource, logdir, 10 if max_queue is None else max_queue,
                      120000 if flush_millis is None else flush_millis,
                      ".v2" if filename_suffix is None else filename_suffix), {}, None)

    with device("cpu:0"):
        return SummaryWriter("logdir:" + logdir if name is None else name, create)


create_summary_file_writer = create_file_writer


def all_summary_ops():
    """What writes the summaries of the graph."""
    return get_collection(_SUMMARIES)


all_v2_summary_ops = all_summary_ops


def summary_writer_initializer_op():
    """What opens the files of all writers of the graph."""
    return get_collection(_INITIALIZERS)


def initialize(graph=None, session=None):
    """Opens the files of all writers of the graph, and writes ``graph`` (a Graph or GraphDef) there."""
    if _context.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = get_default_session() if session is None else session
    if session is None:
        raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        serialized = array_ops.placeholder(dtypes.string)
        definition = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
        session.run(_write_graph(serialized, 0), {serialized: definition.SerializeToString()})


def flush(writer=None, name=None):
    """What is written so far is in the file when this has run."""
    writer = _context.writer if writer is None else writer
    if writer is None or isinstance(writer, _NoWriter):
        return control_flow_ops.no_op()
    with device("cpu:0"):
        return apply("FlushSummaryWriter", (getattr(writer, "_resource", writer),), {}, name)


def eval_dir(model_dir, name=None):
    """The folder of an evaluation's summaries."""
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")


def _step(step):
    return get_or_create_global_step() if step is None else math_ops.cast(step, dtypes.int64)


def _record(op, name, tensor, family, step, *values, **attrs):
    """The operation that writes ``tensor`` under its tag when summaries are recorded."""
    writer = _context.writer
    if writer is None:
        return control_flow_ops.no_op()
    around = get_default_graph().get_name_scope()

    def write():
        with name_scope(around + "/" if around else ""), summary_scope(name, family, values=[tensor]) as (tag, scope):
            value = array_ops.identity(tensor)
            inputs = (tag, value, *values) if op != "WriteSummary" else (value, tag, *values)
            written = apply(op, (writer._resource, _step(step), *inputs), attrs, scope)
            with get_default_graph().control_dependencies([written]):
                return convert_to_tensor(True)

    with device("cpu:0"):
        condition = should_record_summaries()
        known = tensor_util.constant_value(condition)
        if known is None:
            written = control_flow_ops.cond(condition, write, lambda: convert_to_tensor(False))
        else:
            written = write() if known else convert_to_tensor(False)
    add_to_collection(_SUMMARIES, written)
    return written


def scalar(name, tensor, family=None, step=None):
    return _record("WriteScalarSummary", name, tensor, family, step)


def histogram(name, tensor, family=None, step=None):
    return _record("WriteHistogramSummary", name, tensor, family, step)


def image(name, tensor, bad_color=None, max_images=3, family=None, step=None):
    color = convert_to_tensor([255, 0, 0, 255] if bad_color is None else bad_color, dtypes.uint8)
    return _record("WriteImageSummary", name, tensor, family, step, color, max_images=max_images)


def audio(name, tensor, sample_rate, max_outputs, family=None, step=None):
    return _record("WriteAudioSummary", name, tensor, family, step, sample_rate, max_outputs=max_outputs)


def generic(name, tensor, metadata=None, family=None, step=None):
    """``metadata`` is a SummaryMetadata, or its bytes."""
    if hasattr(metadata, "SerializeToString"):
        metadata = metadata.SerializeToString()
    return _record("WriteSummary", name, tensor, family, step, b"" if metadata is None else metadata)


def graph(param, step=None, name=None):
    """Writes a graph: a tensor that holds the bytes of its GraphDef."""
    if not isinstance(param, Tensor):
        raise TypeError(f"graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: {type(param)}")
    if _context.writer is None:
        return control_flow_ops.no_op()
    with device("cpu:0"):
        return apply("WriteGraphSummary", (_context.writer._resource, _step(step), array_ops.identity(param)), {}, name)


_write_graph = graph


__getattr__, __dir__ = _names.namespace(__name__)
