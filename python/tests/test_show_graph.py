"""weir.show_graph: what the page holds. What a browser makes of it is tested in browser/."""

import html.parser
import json
import os

import pytest

import weir as tf
from weir import _weir

NASTY = "</script><script>alert('1')</script><!-- \"quotes\" & \u2028 é {{title}} {{graph}}"


def small_graph():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        with tf.name_scope("layer"), tf.device("/cpu:0"):
            weights = tf.constant([[0.5] * 2] * 3, name="weights")
            product = tf.matmul(x, weights, name="product")
        with tf.control_dependencies([product]):
            tf.no_op(name="done")
    return graph


class Elements(html.parser.HTMLParser):
    """The elements of a page, with their attributes, and the text of scripts and headings."""

    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.text = {}
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags:
            tag, attrs = self.tags[-1]
            key = attrs.get("id", tag)
            self.text[key] = self.text.get(key, "") + data


def nodes_of(page):
    return json.loads(Elements(page).text["graph"])["nodes"]


def test_nodes_have_types_inputs_devices_and_shapes():
    x, weights, product, done = nodes_of(tf.show_graph(small_graph()).html)
    assert x["n"] == "x" and x["o"] == "Placeholder" and x["s"] == ["[?,3]"]
    assert product["i"] == [[0, 0], [1, 0]] and product["s"] == ["[?,2]"] and product["d"] == "/device:CPU:0"
    assert dict(product["a"])["transpose_a"] == "false"
    assert dict(weights["a"])["value"].startswith("float [3,2] [0.5 0.5")
    assert done["i"] == [[2, -1]]


def test_large_constants_are_shortened():
    with tf.Graph().as_default() as graph:
        tf.constant(list(range(100000)))
        tf.constant("a" * 100000)
    page = tf.show_graph(graph).html
    assert len(page) < len(tf.show_graph(tf.Graph()).html) + 2000


def test_the_default_graph_is_shown_when_none_is_given():
    with small_graph().as_default():
        assert len(nodes_of(tf.show_graph().html)) == 4
    assert nodes_of(tf.show_graph().html) == []


def test_messages_bytes_and_files_show_the_same_nodes(tmp_path):
    graph = small_graph()
    graph_def = graph.as_graph_def()
    meta = tf.MetaGraphDef(graph_def=graph_def)
    files = {
        "graph.pb": graph_def.SerializeToString(),
        "graph.pbtxt": str(graph_def).encode(),
        "model.meta": meta.SerializeToString(),
        "model.metatxt": str(meta).encode(),
    }
    forms = [graph, graph_def, meta, graph_def.SerializeToString()]
    for name, contents in files.items():
        (tmp_path / name).write_bytes(contents)
        forms += [tmp_path / name, str(tmp_path / name)]
    with tf.summary.FileWriter(str(tmp_path / "events"), graph):
        pass
    forms += (tmp_path / "events").iterdir()
    for form in forms:
        assert [node["n"] for node in nodes_of(tf.show_graph(form).html)] == [
            "x", "layer/weights", "layer/product", "done"]  # fmt: skip


def test_the_page_needs_nothing_from_outside():
    elements = Elements(tf.show_graph(small_graph()).html)
    for tag, attrs in elements.tags:
        assert tag not in ("link", "img", "iframe", "object", "base")
        assert not {"src", "href", "srcset", "action"} & set(attrs)
    policy = next(attrs["content"] for _, attrs in elements.tags if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_nothing_from_a_graph_becomes_markup():
    graph_def = tf.GraphDef()
    node = graph_def.node.add(name=NASTY, op=NASTY, device=NASTY, input=[NASTY, "^" + NASTY, "no" + NASTY])
    node.attr[NASTY].s = NASTY.encode()
    node.attr["bytes"].s = b"\x00\xff<"
    node.attr["list"].list.s.extend([NASTY.encode(), b"\xc3"])
    node.attr["function"].func.name = NASTY
    node.attr["tensor"].tensor.CopyFrom(tf.TensorProto(dtype=7, string_val=[NASTY.encode()]))
    page = tf.show_graph(graph_def, title=NASTY).html
    plain = tf.show_graph(tf.GraphDef(), title="plain").html
    elements = Elements(page)
    assert [tag for tag, _ in elements.tags] == [tag for tag, _ in Elements(plain).tags]
    assert elements.text["title"].strip() == elements.text["h1"] == NASTY
    (shown,) = nodes_of(page)
    assert shown["n"] == shown["o"] == shown["d"] == NASTY
    assert shown["i"] == [[0, 0], [0, -1], "no" + NASTY]
    attributes = dict(shown["a"])
    assert attributes[NASTY] == NASTY and attributes["bytes"] == "\x00\\xff<"
    assert attributes["list"] == f"[{NASTY}, \\xc3]"


def test_notebooks_get_a_sandboxed_frame_with_the_page_in_it():
    picture = tf.show_graph(small_graph(), title=NASTY, height=321)
    ((tag, attrs),) = Elements(picture._repr_html_()).tags
    assert tag == "iframe" and attrs["sandbox"] == "allow-scripts"
    assert attrs["srcdoc"] == picture.html
    assert "height:321px" in attrs["style"]


def test_saved_pages_are_whole_or_absent(tmp_path):
    picture = tf.show_graph(small_graph())
    picture.save(tmp_path / "graph.html")
    assert (tmp_path / "graph.html").read_text(encoding="utf-8") == picture.html
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        picture.save(tmp_path / "nowhere" / "graph.html")
    assert os.listdir(tmp_path) == ["graph.html"]


def test_what_is_no_graph_is_refused(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="no GraphDef"):
        tf.show_graph(b"no graph")
    with pytest.raises(TypeError, match="not int"):
        tf.show_graph(3)
    with pytest.raises(tf.errors.NotFoundError):
        tf.show_graph(tmp_path / "absent")
    for contents in (b"", b"some text\n", os.urandom(1000)):
        (tmp_path / "file").write_bytes(contents)
        with pytest.raises(tf.errors.DataLossError, match="is no GraphDef, MetaGraphDef or event file"):
            tf.show_graph(tmp_path / "file")
    with tf.summary.FileWriter(str(tmp_path / "events")):
        pass
    with pytest.raises(tf.errors.NotFoundError, match="holds no graph"):
        tf.show_graph(next((tmp_path / "events").iterdir()))


def test_the_command_writes_the_page_of_a_file(tmp_path, capfd):
    source, page = str(tmp_path / "graph.pb"), tmp_path / "graph.html"
    (tmp_path / "graph.pb").write_bytes(small_graph().as_graph_def().SerializeToString())
    assert _weir.run_command(["graph", source, "-o", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == tf.show_graph(source, title="graph.pb").html
    assert _weir.run_command(["graph", source, "-o", str(page), "--title", "mine"]) == 0
    assert "<title>mine</title>" in page.read_text(encoding="utf-8")
    assert capfd.readouterr() == ("", "")


def test_the_command_explains_mistakes_and_keeps_the_old_page(tmp_path, capfd):
    page = tmp_path / "graph.html"
    page.write_text("old")
    (tmp_path / "text").write_text("no graph")
    for file, message in ((tmp_path / "absent", "No such file"), (tmp_path / "text", "is no GraphDef")):
        assert _weir.run_command(["graph", str(file), "-o", str(page)]) == 1
        assert message in capfd.readouterr().err
    for words in ([], ["a", "b", "-o", "c"], [str(tmp_path / "text")], ["a", "--wrong"]):
        assert _weir.run_command(["graph", *words]) == 2
        assert "usage: weir graph FILE -o PAGE" in capfd.readouterr().err
    assert page.read_text() == "old" and sorted(os.listdir(tmp_path)) == ["graph.html", "text"]
