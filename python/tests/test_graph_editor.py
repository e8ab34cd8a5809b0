"""tf.contrib.graph_editor: walks, copies and other connections."""

import pytest
import weir as tf
from weir.contrib import graph_editor as ge

pytestmark = pytest.mark.usefixtures("sess")


def names(items):
    return sorted(item.name for item in items)


@pytest.fixture
def chain():
    """x -> h -> y -> z, with a weight beside."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.constant([[1.0], [2.0]], name="w")
    h = tf.matmul(x, w, name="h")
    y = tf.nn.relu(h, name="y")
    return x, w, h, y, tf.square(y, name="z")


def test_walks_follow_what_is_read_and_stop_where_they_are_told(chain):
    x, w, h, y, z = chain
    assert names(ge.get_forward_walk_ops(x.op)) == ["h", "x", "y", "z"]
    assert names(ge.get_forward_walk_ops([x.op], inclusive=False, stop_at_ts=[y])) == ["h", "y"]
    assert names(ge.get_forward_walk_ops([h])) == ["y", "z"]  # from a tensor: from those that read it
    assert names(ge.get_backward_walk_ops([z.op])) == ["h", "w", "x", "y", "z"]
    assert names(ge.get_backward_walk_ops([z], within_ops=[z.op, y.op, x.op])) == ["y", "z"]
    assert names(ge.get_backward_walk_ops(z.op, within_ops_fn=lambda op: op.type != "MatMul")) == ["y", "z"]
    assert names(ge.get_walks_intersection_ops([x], [y])) == ["h", "y"]
    assert names(ge.get_walks_union_ops([z.op], [h.op])) == ["h", "w", "x", "z"]
    assert ge.get_forward_walk_ops([]) == []


def test_walks_follow_control_inputs_when_asked(chain):
    with tf.control_dependencies([chain[3]]):
        late = tf.constant(1.0, name="late")
    assert names(ge.get_backward_walk_ops(late.op)) == ["late"]
    assert "y" in names(ge.get_backward_walk_ops(late.op, control_inputs=True))
    assert "late" in names(ge.get_forward_walk_ops(chain[0].op, control_outputs=True))


def test_regular_expressions_find_operations_and_tensors(chain):
    graph = tf.get_default_graph()
    assert names(ge.select_ops("^[hy]$", graph=graph)) == ["h", "y"]
    assert names(ge.filter_ts_from_regex(graph, "z")) == ["z:0"]
    assert names(ge.filter_ts([op for op in graph.get_operations()], True)) == ["h:0", "w:0", "x:0", "y:0", "z:0"]
    with pytest.raises(ValueError, match="graph"):
        ge.select_ops("h")


def test_views_know_what_goes_in_and_comes_out(chain):
    view = ge.sgv([chain[2].op, chain[3].op])
    assert names(view.inputs) == ["w:0", "x:0"] and names(view.outputs) == ["y:0"]
    assert view.find_op_by_name("h") is chain[2].op and names(view.consumers()) == ["z"]


def test_copies_read_what_replaces_a_tensor(chain, sess):
    x, w, h, y, z = chain
    five = tf.constant([[5.0, 5.0]])
    view, info = ge.copy_with_input_replacements(ge.sgv([h.op, y.op, z.op]), {x: five}, dst_scope="copies")
    assert names(view.ops) == ["copies/h", "copies/y", "copies/z"]
    assert info.transformed([y, {"z": z}])[1]["z"].name == "copies/z:0" and info.original(info.transformed(y)) is y
    assert info.transformed(w) is None and info._transformed_ops[h.op]._outputs[0].shape.as_list() == [1, 1]
    assert sess.run(info.transformed(z)).tolist() == [[225.0]]
    assert sess.run(z, {x: [[1, 1]]}).tolist() == [[9.0]]


def test_copies_go_to_another_graph(chain):
    other = tf.Graph()
    view, info = ge.copy(ge.sgv([chain[3].op, chain[4].op]), other)
    assert info.transformed(chain[4]).graph is other and names(view.inputs) == ["geph__h_0:0"]
    view, _ = ge.copy_with_input_replacements(ge.sgv([chain[3].op]), {}, tf.Graph())
    assert names(view.inputs) == ["geph__h_0:0"]


def test_targets_can_be_had_with_other_inputs(chain, sess):
    x, w, h, y, z = chain
    replaced = ge.graph_replace([z, w], {h: tf.constant([[-3.0], [4.0]])})
    assert replaced[1] is w and sess.run(replaced[0]).tolist() == [[0.0], [16.0]]
    with pytest.raises(ValueError, match="not connected"):
        ge.graph_replace(h, {z: tf.constant(1.0)})


def test_readers_are_given_another_tensor(chain, sess):
    x, w, h, y, z = chain
    other = tf.negative(h, name="other")
    assert ge.reroute_ts([other], [h], can_modify=[y.op]) == 1 and y.op.inputs[0] is other
    assert sess.run(z, {x: [[-1, -1]]}).tolist() == [[9.0]]
    ge.add_control_inputs(z.op, [w.op])
    assert z.op.control_inputs == [w.op]
    with pytest.raises(ValueError, match="already a control_input"):
        ge.add_control_inputs(z.op, w.op)


def test_tensors_are_swapped(sess):
    a, b = tf.constant(1.0), tf.constant(2.0)
    ten_a, ten_b = a * 10, b * 10
    assert ge.swap_ts([a], [b]) == 2 and sess.run([ten_a, ten_b]) == [20.0, 10.0]


def _diamond():
    a, b = tf.constant([1.0, 2.0], name="a"), tf.constant([3.0, 4.0], name="b")
    c = tf.add(a, b, name="c")
    return a, b, c, tf.multiply(c, a, name="d")


def test_a_detached_part_reads_placeholders_and_a_bypassed_one_is_read_no_more():
    with tf.Graph().as_default():
        a, b, c, d = _diamond()
        ge.detach_inputs(c.op)
        assert [t.op.name for t in c.op.inputs] == ["geph__a_0", "geph__b_0"] and d.op.inputs[1] is a
    with tf.Graph().as_default():
        a, b, c, d = _diamond()
        ge.bypass(ge.sgv(c.op).remap_inputs([1]))
        assert ge.OpMatcher("^d$").input_ops("^b$", "^a$")(d.op) and not ge.OpMatcher("^d$").input_ops("^c$", None)(d.op)


def test_swapped_outputs_change_their_readers_outside_alone():
    with tf.Graph().as_default(), tf.Session() as session:
        a, b, c, d = _diamond()
        ge.swap_outputs(ge.sgv(c.op), ge.sgv(b.op))
        assert [t.op.name for t in d.op.inputs] == ["b", "a"] and [t.op.name for t in c.op.inputs] == ["a", "b"]
        assert session.run(d).tolist() == [3.0, 8.0]


def test_a_transformer_puts_something_behind_each_copy():
    with tf.Graph().as_default() as graph:
        d = _diamond()[3]

    def handler(info, op):
        made, outputs = ge.copy_op_handler(info, op)
        if op.type == "Const":
            return made, outputs
        with info.graph_.as_default():
            return made, [tf.negative(outputs[0])]

    transformer = ge.Transformer()
    transformer.transform_op_handler = handler
    other = tf.Graph()
    view, info = transformer(graph, other, "copied")
    with tf.Session(graph=other) as session:
        assert session.run(info.transformed(d)).tolist() == [4.0, 12.0]
    assert info.transformed(d.op).name == "copied/d" and view.graph is other


def test_control_inputs_can_be_taken_away():
    with tf.Graph().as_default():
        a, b, c, d = _diamond()
        ge.add_control_inputs(d.op, b.op)
        ge.detach_control_inputs(ge.sgv(d.op))
        assert not d.op.control_inputs
        with pytest.raises(ValueError, match="is not a control_input"):
            ge.remove_control_inputs(d.op, b.op)
