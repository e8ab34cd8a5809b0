import copy
import pickle
import subprocess
import sys

import pytest

from weir import protos


def test_import_does_not_import_protobuf():
    code = "import sys, weir.protos; assert 'google.protobuf' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_graph_def_is_built_as_programs_do():
    graph = protos.GraphDef()
    node = graph.node.add()
    node.name, node.op = "x", "Const"
    node.attr["dtype"].type = protos.DT_FLOAT
    assert protos.GraphDef.FromString(graph.SerializeToString()) == graph
    assert 'name: "x"' in str(graph) and "DT_FLOAT" in str(graph)
    other = protos.GraphDef()
    other.MergeFrom(graph)
    other.CopyFrom(graph)
    assert other == graph == copy.deepcopy(graph) == pickle.loads(pickle.dumps(graph))


def test_text_format_reads_what_str_writes():
    from google.protobuf import text_format

    config = protos.ConfigProto(gpu_options=protos.GPUOptions(allow_growth=True), device_count={"CPU": 2})
    assert text_format.Parse(str(config), protos.ConfigProto()) == config
    assert text_format.Merge(str(config), protos.ConfigProto()).device_count["CPU"] == 2


def test_enumerations_have_their_values():
    assert protos.RunOptions.FULL_TRACE == 3
    assert protos.DataType.Name(1) == "DT_FLOAT" and protos.DT_INT32 == 3
    assert protos.OptimizerOptions.L0 == -1


def test_field_numbers_are_tensorflows():
    # NodeDef name=1 "n", op=2 "Add", as TensorFlow serialises it.
    assert protos.NodeDef(name="n", op="Add").SerializeToString() == b"\n\x01n\x12\x03Add"


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="NoSuchMessage"):
        protos.NoSuchMessage
    assert not hasattr(protos, "NoSuchMessage")
    assert "GraphDef" in dir(protos)


def test_descriptors_go_by_the_names_of_generated_code():
    assert protos.descriptor("TENSORPROTO").name == "TensorProto"
    assert protos.descriptor("GPUOPTIONS_EXPERIMENTAL").name == "Experimental"
    assert protos.descriptor("graph.proto").name == "weir/proto/graph.proto"
    with pytest.raises(KeyError):
        protos.descriptor("NOTHING")


@pytest.mark.skipif(not hasattr(protos, "Example"), reason="these descriptors have no Example")
def test_examples_are_built_from_keyword_arguments():
    feature = protos.Feature(int64_list=protos.Int64List(value=[1, 2]))
    example = protos.Example(features=protos.Features(feature={"label": feature}))
    assert protos.Example.FromString(example.SerializeToString()).features.feature["label"].int64_list.value == [1, 2]


@pytest.mark.skipif(not hasattr(protos, "Summary"), reason="these descriptors have no Summary")
def test_summaries_have_nested_values():
    summary = protos.Summary(value=[protos.Summary.Value(tag="loss", simple_value=0.5)])
    assert summary.value[0].tag == "loss" and summary.value[0].simple_value == 0.5


def test_lists_of_numbers_take_what_stands_for_a_number():
    import numpy as np

    assert list(protos.Int64List(value=[True, np.bool_(False), 3, np.int64(4), np.array(5)]).value) == [1, 0, 3, 4, 5]
    assert list(protos.Int64List(value=np.array([True, False])).value) == [1, 0]
    assert list(protos.FloatList(value=[True, np.array(2.5), np.float32(0.5)]).value) == [1.0, 2.5, 0.5]
    for wrong in ([2.0], [np.float32(2)], ["2"], 7):
        with pytest.raises(TypeError):
            protos.Int64List(value=wrong)
