"""Operations that Weir does not have: built by name, described by OpDefs."""

import pytest

import weir as tf
from weir import protos
from weir.inner.op_def_library import OpDefLibrary


def _op_def(text):
    from google.protobuf import text_format

    return text_format.Merge(text, protos.OpDef())


def test_create_op_builds_a_node_of_any_type():
    graph = tf.Graph()
    a = graph.create_op("no_such_op", [], [tf.float32, tf.int32], name="a")
    b = graph.create_op("no_such_op", [a.outputs[1], a.outputs[0]], [], attrs={"k": protos.AttrValue(i=3)})
    assert [t.dtype for t in a.outputs] == [tf.float32, tf.int32]
    assert a.outputs[0].get_shape().ndims is None
    node = graph.as_graph_def().node[1]
    assert (node.op, node.name, list(node.input), node.attr["k"].i) == ("no_such_op", "no_such_op", ["a:1", "a"], 3)
    assert b.inputs[0] is a.outputs[1]


def test_such_a_node_does_not_run():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        op = graph.create_op("no_such_op", [], [tf.float32])
        with pytest.raises(tf.errors.OpError):
            session.run(op.outputs[0])


def test_a_registered_shape_function_is_asked():
    tf.RegisterShape("op_with_shape")(lambda op: [tf.TensorShape([2, None])])
    op = tf.Graph().create_op("op_with_shape", [], [tf.float32])
    assert op.outputs[0].get_shape().as_list() == [2, None]


def test_the_constructor_of_operation_makes_a_node():
    graph = tf.Graph()
    op = tf.Operation(protos.NodeDef(name="scope/x", op="no_such_op"), graph, [], [tf.string])
    assert op.name == "scope/x" and op.outputs[0].dtype == tf.string and graph.get_operations() == [op]
    with pytest.raises(ValueError, match="is not a valid node name"):
        tf.Operation(protos.NodeDef(name="_x", op="no_such_op"), graph)


def test_an_op_def_library_infers_attributes():
    library = OpDefLibrary()
    library.add_op(_op_def("name: 'Twice' input_arg { name: 'a' type_attr: 'T' number_attr: 'N' } output_arg { name: 'b' "
                           "type_attr: 'T' } attr { name: 'T' type: 'type' } attr { name: 'N' type: 'int' has_minimum: true "
                           "minimum: 2 }"))
    with tf.Graph().as_default():
        out = library.apply_op("Twice", a=[1, 2, 3])
        assert out.dtype == tf.int32 and out.op.get_attr("N") == 3
        with pytest.raises(ValueError, match="with length 1 shorter than minimum length 2"):
            library.apply_op("Twice", a=[1])
        with pytest.raises(TypeError, match=r"have types \[int32, string\] that don't all match"):
            library.apply_op("Twice", a=[tf.constant(1), tf.constant("x")])


def test_registered_operations_are_imported():
    from weir.inner.op_def_registry import register_op_list

    register_op_list(protos.OpList(op=[_op_def("name: 'WithDefault' output_arg { name: 'a' type: DT_INT32 } attr { name: "
                                               "'f' type: 'float' default_value { f: 2 } }")]))
    graph_def = protos.GraphDef(node=[protos.NodeDef(name="x", op="WithDefault")])
    with tf.Graph().as_default():
        op, = tf.import_graph_def(graph_def, return_elements=["x"])
        assert op.get_attr("f") == 2.0


def test_a_type_is_compatible_with_its_reference_but_not_the_other_way_round():
    assert tf.float32.is_compatible_with(tf.float32._as_ref)
    assert not tf.float32._as_ref.is_compatible_with(tf.float32)


def test_the_values_of_a_name_scope_are_of_one_graph():
    first, second = tf.Graph().create_op("x", [], [tf.float32]), tf.Graph().create_op("x", [], [tf.float32])
    with pytest.raises(ValueError, match="must be from the same graph"), tf.name_scope("s", values=[first, second]):
        pass


def test_the_operations_of_tensorflows_tests_are_known():
    from weir.inner import test_ops

    with tf.Graph().as_default() as graph:
        a, b = test_ops.two_int_outputs()
        assert [a.name, b.name] == ["TwoIntOutputs:0", "TwoIntOutputs:1"] and a.dtype == tf.int32
        assert test_ops.list_output(T=[tf.int32, tf.string])[1].dtype == tf.string
        assert test_ops.int_attr().op.get_attr("foo") == 1
        op = test_ops.default_attrs()
        assert op.get_attr("int_list_val") == [1, 2, 3] and op.get_attr("string_val") == b"abc"
        with pytest.raises(ValueError, match="less than minimum 5"):
            test_ops.attr_min(4)
        copy = graph.as_graph_def()
    with tf.Graph().as_default():
        assert tf.import_graph_def(copy, return_elements=["TwoIntOutputs:1"])[0].dtype == tf.int32


def test_a_node_that_is_made_of_a_copied_description_runs():
    """As libraries copy operations (Edward's ``copy``); the copy stays where it was made."""
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0, 2.0])
        description = tf.NodeDef()
        description.CopyFrom(x.op.node_def)
        description.name = "copied"
        copy = tf.Operation(description, graph, [], [tf.float32], [], [], None, x.op.op_def)
        copy._set_control_flow_context(x.op._get_control_flow_context())
        assert copy.outputs[0].shape.as_list() == [2]
        with tf.Session() as session:
            assert session.run(copy.outputs[0]).tolist() == [1, 2]
        with pytest.raises(NotImplementedError, match="cannot be moved"):
            copy._set_control_flow_context(object())
