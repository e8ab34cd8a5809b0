"""Parts of graphs as meta graphs of their own, and what of Python's goes through a meta graph."""

import pytest

import weir as tf
from weir.train.meta_graph import (copy_scoped_meta_graph, export_scoped_meta_graph, import_scoped_meta_graph,
                                   read_meta_graph_file)


def test_a_part_is_exported_and_imported_under_another_scope(tmp_path):
    path = str(tmp_path / "part.meta")
    with tf.Graph().as_default() as graph:
        x = tf.constant([[2.0]], name="x")
        with tf.name_scope("layer"):
            w = tf.Variable([[3.0]], name="w")
            tf.matmul(x, w, name="y")
        meta_graph, variables = export_scoped_meta_graph(path, graph=graph, export_scope="layer")
        assert list(variables) == ["w:0"] and variables["w:0"] is w
        assert "$unbound_inputs_x" in next(node for node in meta_graph.graph_def.node if node.name == "y").input
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="Graph contains unbound inputs"):
            import_scoped_meta_graph(path, import_scope="other")
        variables = import_scoped_meta_graph(path, import_scope="other", input_map={"$unbound_inputs_x": tf.constant([[5.0]])})
        assert {name: variable.name for name, variable in variables.items()} == {"w:0": "other/w:0"}
        session.run(tf.global_variables_initializer())
        assert session.run("other/y:0") == [[15.0]]


@pytest.mark.parametrize("scope", [None, "inside"])
def test_queue_runners_come_back(scope):
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(10, tf.float32, shapes=[[]], name="queue")
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue([7.0])]))
        queue.dequeue(name="value")
        meta_graph = tf.train.export_meta_graph()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(meta_graph, import_scope=scope)
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        assert session.run(f"{scope}/value:0" if scope else "value:0") == 7.0
        coordinator.request_stop()
        coordinator.join(threads)


def test_a_part_is_copied_inside_its_graph():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        with tf.name_scope("a"):
            tf.multiply(tf.Variable(3.0, name="v"), 2.0, name="twice")
        copied = copy_scoped_meta_graph("a", "b")
        assert {name: variable.name for name, variable in copied.items()} == {"v:0": "b/v:0"}
        session.run(copied["v:0"].assign(5.0))
        assert session.run(graph.get_tensor_by_name("b/twice:0")) == 10.0


def test_meta_graphs_are_read_as_text_too(tmp_path):
    path = str(tmp_path / "graph.meta")
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        tf.train.export_meta_graph(path, as_text=True)
    with tf.Graph().as_default():
        assert tf.train.import_meta_graph(path) is not None
    (tmp_path / "graph.meta").write_text("nothing of the kind")
    with pytest.raises(IOError, match="Cannot parse file"):
        tf.train.import_meta_graph(path)
    with pytest.raises(IOError, match="does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "missing"))


def test_savers_come_back_from_their_collection():
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        tf.add_to_collection("savers", tf.train.Saver(max_to_keep=3))
        meta_graph = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta_graph)
        saver, = tf.get_collection("savers")
        assert saver.as_saver_def().max_to_keep == 3


def test_variables_in_collections_of_a_program_are_nodes():
    with tf.Graph().as_default():
        tf.add_to_collection("lr", tf.Variable(0.5, name="rate"))
        meta_graph = tf.train.export_meta_graph()
    assert list(meta_graph.collection_def["lr"].node_list.value) == ["rate:0"]
    assert meta_graph.collection_def["variables"].WhichOneof("kind") == "bytes_list"
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(meta_graph)
        session.run(tf.global_variables_initializer())
        (rate,) = tf.get_collection("lr")
        assert rate.name == "rate:0" and session.run(rate) == 0.5


def _adds_complex_numbers():
    real, imag = tf.constant(1.0, name="real"), tf.constant(2.0, name="imag")
    return tf.complex(real, imag, name="complex")


@pytest.mark.parametrize("strip", [False, True])
def test_defaults_are_stripped_from_meta_graphs_when_asked(strip, tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        _adds_complex_numbers()
        v = tf.Variable(1.0, name="v")
        session.run(v.initializer)
        saver = tf.train.Saver([v])
        builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(session, ["serve"], strip_default_attrs=strip)
        builder.save()
        saver.save(session, str(tmp_path / "saved"), strip_default_attrs=strip)
        written = [
            saver.export_meta_graph(strip_default_attrs=strip),
            tf.train.export_meta_graph(graph_def=graph.as_graph_def(), strip_default_attrs=strip),
            tf.saved_model.loader.load(tf.Session(graph=tf.Graph()), ["serve"], str(tmp_path / "model")),
            read_meta_graph_file(str(tmp_path / "saved.meta")),
        ]
    for meta_graph in written:
        node = next(node for node in meta_graph.graph_def.node if node.name == "complex")
        assert ("Tout" in node.attr) == (not strip)
        assert meta_graph.meta_info_def.stripped_default_attrs == strip
        described = [op.name for op in meta_graph.meta_info_def.stripped_op_list.op]
        assert "Complex" in described and described == sorted(set(described))


def test_the_operations_of_a_part_are_described_and_no_others():
    with tf.Graph().as_default() as graph:
        x = tf.constant(2.0, name="x")
        with tf.name_scope("inside"):
            tf.square(x)
        meta_graph, _ = export_scoped_meta_graph(graph=graph, export_scope="inside")
        assert [op.name for op in meta_graph.meta_info_def.stripped_op_list.op] == ["Square"]


def test_operations_without_description_cannot_be_listed():
    with tf.Graph().as_default() as graph:
        _adds_complex_numbers()
        operations = tf.contrib.util.stripped_op_list_for_graph(graph.as_graph_def())
        assert [op.name for op in operations.op] == ["Complex", "Const"]
        assert operations.op[0].output_arg[0].type_attr == "Tout"
        graph.create_op("NobodyKnowsThis", [], [])
        assert tf.contrib.util.ops_used_by_graph_def(graph.as_graph_def()) == ["Complex", "Const", "NobodyKnowsThis"]
        with pytest.raises(ValueError, match="Op NobodyKnowsThis is used by the graph, but is not registered"):
            tf.contrib.util.stripped_op_list_for_graph(graph.as_graph_def())
