import json

from weir import protos
from weir.timeline import Timeline


def step_stats():
    stats = protos.StepStats()
    device = stats.dev_stats.add(device="/cpu:0")
    for name, start, length, label in (
        ("x", 100, 10, "x = Const()"),
        ("y", 105, 20, "y = MatMul(x, x:0)"),
        ("z/Sum", 130, 0, "z/Sum = Sum(y, ^x)"),
    ):
        node = device.node_stats.add(
            node_name=name, all_start_micros=start, all_end_rel_micros=length, timeline_label=label
        )
        node.memory.add(allocator_name="cpu", total_bytes=64)
    return stats


def events(phase, **options):
    trace = json.loads(Timeline(step_stats()).generate_chrome_trace_format(**options))
    return [event for event in trace["traceEvents"] if event["ph"] == phase]


def test_each_node_is_an_event_with_its_type_and_inputs():
    x, y, z = events("X")
    assert (y["name"], y["ts"], y["dur"]) == ("MatMul", 105, 20)
    assert y["args"] == {"name": "y", "op": "MatMul", "input0": "x", "input1": "x:0"}
    assert z["dur"] == 1  # a viewer would drop an event without length
    assert [e["args"]["name"] for e in events("M") if e["name"] == "process_name"] == ["/cpu:0 Compute"]


def test_nodes_that_overlap_get_lanes_of_their_own():
    assert [event["tid"] for event in events("X")] == [0, 1, 0]


def test_arrows_follow_the_data():
    starts, ends = events("s"), events("t")
    assert len(starts) == len(ends) == 4 and {e["id"] for e in starts} == {e["id"] for e in ends}
    assert all(a["ts"] <= b["ts"] for a, b in zip(starts, ends))
    assert events("s", show_dataflow=False) == []


def test_memory_is_counted():
    assert events("C") == []
    held = [event["args"]["cpu"] for event in events("C", show_memory=True)]
    assert max(held) == 128 and held[-1] == 0
    maximum = Timeline(step_stats()).analyze_step_stats().allocator_maximums["cpu"]
    assert maximum.num_bytes == 128 and maximum.tensors == {"x", "y"}


def test_types_come_from_the_graph_without_labels():
    class Graph:
        def get_operation_by_name(self, name):
            raise KeyError(name)

    stats = protos.StepStats()
    stats.dev_stats.add(device="d").node_stats.add(node_name="a/MatMul", all_start_micros=1)
    trace = json.loads(Timeline(stats, Graph()).generate_chrome_trace_format())
    assert trace["traceEvents"][-1]["name"] == "MatMul"
