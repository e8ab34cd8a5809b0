"""tensorflow.python.client.timeline: the trace of a run for Chrome's viewer (chrome://tracing) and Perfetto.

options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
metadata = tf.RunMetadata()
session.run(fetches, options=options, run_metadata=metadata)
open("trace.json", "w").write(Timeline(metadata.step_stats).generate_chrome_trace_format())
"""

import collections

StepStatsAnalysis = collections.namedtuple("StepStatsAnalysis", ["chrome_trace", "allocator_maximums"])
AllocationMaximum = collections.namedtuple("AllocationMaximum", ["timestamp", "num_bytes", "tensors"])


class Timeline:
    """Turns StepStats into a trace: a process for each device, a thread for each lane of operations that overlap."""

    def __init__(self, step_stats, graph=None):
        self._step_stats = step_stats
        self._graph = graph

    def generate_chrome_trace_format(self, show_dataflow=True, show_memory=False):
        """The trace as JSON text."""
        return self.analyze_step_stats(show_dataflow, show_memory).chrome_trace

    def analyze_step_stats(self, show_dataflow=True, show_memory=True):
        """The trace as JSON text, and for each allocator the most bytes that it held at once."""
        trace = _Trace(show_dataflow, show_memory)
        for device in self._step_stats.dev_stats:
            trace.add_device(device, self._graph)
        maximums = trace.finish()
        return StepStatsAnalysis(chrome_trace=trace.json(), allocator_maximums=maximums)


class _Trace:
    def __init__(self, dataflow, memory):
        self._dataflow = dataflow
        self._memory = memory
        self._events = []
        self._metadata = []
        self._processes = 0
        self._ends = {}  # node -> (pid, tid, end) of its event
        self._uses = []  # (producer, pid, tid, start)
        self._allocations = collections.defaultdict(list)  # allocator -> [(time, change, node)]

    def add_device(self, device, graph):
        pid = self._process(f"{device.device} Compute")
        lanes = []  # end of the last event of each
        for node in sorted(device.node_stats, key=lambda node: (node.all_start_micros, node.all_end_rel_micros)):
            start = node.all_start_micros
            duration = max(1, node.all_end_rel_micros)  # the viewers drop events without length
            tid = next((i for i, end in enumerate(lanes) if end <= start), len(lanes))
            lanes[tid : tid + 1] = [start + duration]
            kind, inputs = _operation_and_inputs(node, graph)
            args = {"name": node.node_name, "op": kind}
            args.update((f"input{i}", name) for i, name in enumerate(inputs))
            event = {"ph": "X", "cat": "Op", "name": kind, "pid": pid, "tid": tid, "ts": start, "dur": duration}
            self._events.append({**event, "args": args})
            self._ends[node.node_name] = (pid, tid, start + duration)
            self._uses += [(_producer(name), pid, tid, start) for name in inputs]
            for used in node.memory:
                size = used.total_bytes or used.peak_bytes
                if size:
                    self._allocations[used.allocator_name].append((start, size, node.node_name))
                    self._allocations[used.allocator_name].append((start + duration, -size, node.node_name))
        for tid in range(len(lanes)):
            self._metadata.append(_named("thread_name", pid, f"lane {tid}", tid))

    def finish(self):
        """Adds the arrows and counters that need all devices; returns the maximum of each allocator."""
        if self._dataflow:
            for identifier, (producer, pid, tid, start) in enumerate(self._uses):
                source = self._ends.get(producer)
                if source is not None:
                    common = {"cat": "DataFlow", "name": producer, "id": identifier}
                    self._events.append({"ph": "s", "pid": source[0], "tid": source[1], "ts": source[2], **common})
                    self._events.append({"ph": "t", "pid": pid, "tid": tid, "ts": max(start, source[2]), **common})
        maximums = {}
        pid = self._process("Memory") if self._memory and self._allocations else None
        for allocator, changes in sorted(self._allocations.items()):
            held = 0
            maximum = AllocationMaximum(0, 0, set())
            alive = collections.Counter()
            for time, change, node in sorted(changes):
                held += change
                alive[node] += 1 if change > 0 else -1
                if held > maximum.num_bytes:
                    maximum = AllocationMaximum(time, held, {name for name, count in alive.items() if count > 0})
                if pid is not None:
                    event = {"ph": "C", "cat": "Memory", "name": allocator, "pid": pid, "ts": time}
                    self._events.append({**event, "args": {allocator: held}})
            maximums[allocator] = maximum
        return maximums

    def json(self):
        import json

        return json.dumps({"traceEvents": self._metadata + self._events}, indent=1, separators=(",", ": "))

    def _process(self, name):
        pid = self._processes
        self._processes += 1
        self._metadata.append(_named("process_name", pid, name))
        return pid


def _named(what, pid, name, tid=None):
    event = {"ph": "M", "name": what, "pid": pid, "args": {"name": name}}
    if tid is not None:
        event["tid"] = tid
    return event


def _operation_and_inputs(node, graph):
    """The type and inputs of a node: from its label `name = Type(input, ...)`, or else from the graph."""
    label = node.timeline_label
    if " = " in label:
        kind, parenthesis, rest = label.partition(" = ")[2].partition("(")
        if parenthesis:
            inputs = rest.rpartition(")")[0]
            return kind, [name for name in inputs.split(", ") if name]
    if graph is not None:
        try:
            operation = graph.get_operation_by_name(node.node_name)
        except (KeyError, ValueError):
            pass
        else:
            return operation.type, [tensor.name for tensor in operation.inputs]
    return node.node_name.rpartition("/")[2].rpartition(":")[2], []


def _producer(name):
    """`^a/b` and `a/b:1` are made by node a/b."""
    name = name.lstrip("^")
    node, _, output = name.rpartition(":")
    return node if node and output.isdigit() else name
