"""tf.summary: what TensorBoard shows."""

from weir import _weir, names as _names, protos as _protos
from weir.core.graph import convert_to_tensor as _convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.version import GIT_VERSION as _GIT_VERSION


def scalar(name, tensor, collections=None, family=None):
    return _weir.scalar_summary(_graph(), name, tensor, collections, family)


def histogram(name, values, collections=None, family=None):
    return _weir.histogram_summary(_graph(), name, values, collections, family)


def image(name, tensor, max_outputs=3, collections=None, family=None):
    return _weir.image_summary(_graph(), name, tensor, max_outputs, collections, family)


def audio(name, tensor, sample_rate, max_outputs=3, collections=None, family=None):
    if not isinstance(tensor, _weir.Tensor):
        tensor = _convert_to_tensor(tensor, "float32")  # arrays are doubles as a rule
    return _weir.audio_summary(_graph(), name, tensor, sample_rate, max_outputs, collections, family)


def text(name, tensor, collections=None):
    return _weir.text_summary(_graph(), name, tensor, collections, None)


def tensor_summary(name, tensor, summary_description=None, collections=None, summary_metadata=None, family=None,
                   display_name=None):
    metadata = b"" if summary_metadata is None else summary_metadata.SerializeToString()
    return _weir.tensor_summary(_graph(), name, tensor, metadata, collections, family)


def merge(inputs, collections=None, name=None):
    return _weir.merge_summary(_graph(), list(inputs), collections, name)


def merge_all(key="summaries", scope=None, name=None):
    """All summaries of the graph in one, or None when there are none."""
    found = _graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


def get_summary_description(node_def):
    raise NotImplementedError("tf.summary.get_summary_description is not in Weir yet.")


# TensorFlow 0.x: tags do not follow the name scope.


def scalar_summary(tags, values, collections=None, name=None):
    return _weir.old_scalar_summary(_graph(), tags, values, collections, name)


def histogram_summary(tag, values, collections=None, name=None):
    return _weir.old_histogram_summary(_graph(), tag, values, collections, name)


def image_summary(tag, tensor, max_images=3, collections=None, name=None, max_outputs=None):
    return _weir.old_image_summary(_graph(), tag, tensor, max_images if max_outputs is None else max_outputs, collections, name)


def audio_summary(tag, tensor, sample_rate, max_outputs=3, collections=None, name=None):
    return audio(name or tag, tensor, sample_rate, max_outputs, collections)


merge_summary = merge


def merge_all_summaries(key="summaries"):
    return merge_all(key)


class FileWriter:
    """Writes an event file into ``logdir`` that TensorBoard shows while the program runs."""

    def __init__(self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None,
                 session=None):
        import os

        logdir = logdir.decode() if isinstance(logdir, bytes) else os.fspath(logdir)
        self._writer = _weir.FileWriter(logdir, int(max_queue), float(flush_secs), filename_suffix or "")
        self._closed = False
        if graph is None and graph_def is None:
            return
        self.add_graph(graph, graph_def=graph_def)
        if hasattr(graph, "_to_graph_def"):  # TensorFlow writes the meta graph beside the graph
            meta_graph = _protos.MetaGraphDef.FromString(_weir.export_meta_graph(graph, None, None, [], False, False, False))
            meta_graph.graph_def.ParseFromString(graph._to_graph_def(True))
            meta_graph.meta_info_def.tensorflow_git_version = _GIT_VERSION
        else:
            create = _names.at("weir.train.meta_graph:create_meta_graph_def")
            meta_graph = create(graph_def=graph_def if graph is None else graph)
        self._writer.add_meta_graph(meta_graph.SerializeToString(), None)

    def _add(self, kind, *args):
        """Writes, unless it is closed: programs that stop twice, or late, lose nothing but what comes after the end."""
        if self._closed:
            import warnings

            warnings.warn("Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
                          "explicitly reopened.", stacklevel=3)
            return
        getattr(self._writer, kind)(*args)

    def get_logdir(self):
        return self._writer.logdir

    def add_summary(self, summary, global_step=None):
        """Adds a Summary, a message or (as a session gives it) serialised."""
        if hasattr(summary, "SerializeToString"):
            summary = summary.SerializeToString()
        self._add("add_summary", bytes(summary), global_step)

    def add_graph(self, graph=None, global_step=None, graph_def=None):
        """Adds a Graph, or its GraphDef, for TensorBoard's picture of it."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        graph = graph_def if graph is None else graph
        if hasattr(graph, "_to_graph_def"):
            data = graph._to_graph_def(True)  # TensorBoard writes the shapes beside the edges
        elif hasattr(graph, "SerializeToString"):  # TensorFlow 0.x: SummaryWriter(logdir, sess.graph_def)
            data = graph.SerializeToString()
        else:
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add("add_graph_def", data, global_step)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        if not hasattr(meta_graph_def, "SerializeToString"):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add("add_meta_graph", meta_graph_def.SerializeToString(), global_step)

    def add_session_log(self, session_log, global_step=None):
        self._add("add_session_log", session_log.status, global_step, session_log.checkpoint_path)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Adds a traced run, once for each tag."""
        self._add("add_run_metadata", run_metadata.SerializeToString(), tag, global_step)

    def add_event(self, event):
        self._add("add_event", event.SerializeToString())

    def flush(self):
        self._add("flush")

    def close(self):
        self._writer.close()
        self._closed = True

    def reopen(self):
        self._writer.reopen()
        self._closed = False

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
        return False


SummaryWriter = FileWriter


class FileWriterCache:
    """One writer for each directory."""

    _cache = {}

    @staticmethod
    def get(logdir):
        if logdir not in FileWriterCache._cache:
            FileWriterCache._cache[logdir] = FileWriter(logdir, graph=_graph())
        return FileWriterCache._cache[logdir]

    @staticmethod
    def clear():
        for writer in FileWriterCache._cache.values():
            writer.close()
        FileWriterCache._cache.clear()


def summary_iterator(path):
    """The Events of an event file."""
    for record in _weir.RecordReader(path, 0):
        yield _protos.Event.FromString(record)


__getattr__, __dir__ = _names.namespace(__name__)
