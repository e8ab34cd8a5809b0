"""tf.contrib.testing: helpers of tests about summaries."""

import glob
import os

import numpy as np

from weir import protos
from weir import summary as _summary


class FakeSummaryWriter:
    """A writer that keeps what is written, for tests to look at; ``install`` puts it in the place of FileWriter."""

    _replaced_summary_writer = None

    @classmethod
    def install(cls):
        if cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced_summary_writer = _summary.FileWriter
        _summary.FileWriter = cls

    @classmethod
    def uninstall(cls):
        if not cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter not installed.")
        _summary.FileWriter = cls._replaced_summary_writer
        cls._replaced_summary_writer = None

    def __init__(self, logdir, graph=None):
        self._logdir, self._graph = logdir, graph
        self._summaries, self._added_run_metadata = {}, {}
        self._added_graphs, self._added_meta_graphs, self._added_session_logs = [], [], []

    summaries = property(lambda self: self._summaries)

    def assert_summaries(self, test_case, expected_logdir=None, expected_graph=None, expected_summaries=None,
                         expected_added_graphs=None, expected_added_meta_graphs=None, expected_session_logs=None):
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertIs(expected_graph, self._graph)
        for step, values in (expected_summaries or {}).items():
            test_case.assertIn(step, self._summaries)
            found = {value.tag: value.simple_value for summary in self._summaries[step] for value in summary.value
                     if value.tag != "global_step/sec"}  # a thread of its own writes these
            test_case.assertEqual(values, found)
        if expected_added_graphs is not None:
            test_case.assertEqual(expected_added_graphs, self._added_graphs)
        if expected_added_meta_graphs is not None:
            test_case.assertEqual(len(expected_added_meta_graphs), len(self._added_meta_graphs))
        if expected_session_logs is not None:
            test_case.assertEqual(expected_session_logs, self._added_session_logs)

    def add_summary(self, summ, current_global_step):
        if isinstance(summ, bytes):
            summ = protos.Summary.FromString(summ)
        self._summaries.setdefault(current_global_step, []).append(summ)

    def add_graph(self, graph, global_step=None, graph_def=None):
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}.")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log, global_step=None):
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        self._added_run_metadata[tag] = run_metadata

    def flush(self):
        pass

    def reopen(self):
        pass

    def close(self):
        pass


def assert_summary(expected_tags, expected_simple_values, summary_proto):
    tags = {value.tag for value in summary_proto.value}
    for value in summary_proto.value:
        if value.tag in expected_simple_values:
            np.testing.assert_almost_equal(value.simple_value, expected_simple_values[value.tag], decimal=2,
                                           err_msg=value.tag)
    if set(expected_tags) != tags:
        raise ValueError(f"Expected tags {set(expected_tags)}, got {tags}.")


def to_summary_proto(summary_str):
    return protos.Summary.FromString(summary_str)


def latest_event_file(base_dir):
    """The path, or None."""
    return max(glob.glob(os.path.join(base_dir, "events.*")), default=None)


def latest_events(base_dir):
    path = latest_event_file(base_dir)
    return _summary.summary_iterator(path) if path else []


def latest_summaries(base_dir):
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


def simple_values_from_events(events, tags):
    """{tag: the value of the last step}"""
    steps, values = {}, {}
    for event in events:
        for value in event.summary.value if event.HasField("summary") else ():
            if value.tag not in tags:
                continue
            if not value.HasField("simple_value"):
                raise ValueError(f"Summary for {value.tag} is not a simple_value.")
            if value.tag not in steps or steps[value.tag] < event.step:
                steps[value.tag], values[value.tag] = event.step, value.simple_value
    return values
